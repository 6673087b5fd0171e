//! A search as it is seen on the page.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::common::{hand_in, run};
use crate::{Board, id, table};

/// A score as the page's table has it.
fn short(score: &Value) -> String {
    if let Some(plies) = score["white_wins_in"].as_u64() {
        return format!("W {plies}");
    }
    if let Some(plies) = score["black_wins_in"].as_u64() {
        return format!("B {plies}");
    }
    let cm = score["cm"].as_i64().unwrap();
    let sign = match cm.signum() {
        1 => "+",
        -1 => "\u{2212}",
        _ => "",
    };
    format!("{sign}{}.{:02}", cm.abs() / 100, cm.abs() % 100)
}

/// What the table must say of a line of `done`: move, score with its bound, depth, expected play after the move.
fn row_of(line: &Value) -> Vec<String> {
    let sign = match line["bound"].as_str().unwrap() {
        "lower" => "\u{2265}",
        "upper" => "\u{2264}",
        _ => "",
    };
    let pv: Vec<&str> =
        line["pv"].as_array().unwrap().iter().skip(1).map(|it| it.as_str().unwrap()).collect();
    let mv = line["move"].as_str().unwrap();
    vec![
        mv.to_owned(),
        format!("{sign}{}", short(&line["score_white"])),
        line["depth"].to_string(),
        pv.join(" "),
    ]
}

fn words(row: &[String]) -> Vec<String> {
    [0, 1, 2, 6].iter().map(|&column| row[column].clone()).collect()
}

/// The page shows the end of a job as programs read it: the same moves in the same order, with the same scores and lines.
pub(crate) async fn same_as_programs_read(board: &Board, events: &[Value]) {
    let done = events.last().unwrap();
    assert_eq!(done["event"], "done");
    let expected: Vec<Vec<String>> = done["lines"].as_array().unwrap().iter().map(row_of).collect();
    let started = std::time::Instant::now();
    loop {
        let shown: Vec<Vec<String>> = table(&board.browser).await.iter().map(|row| words(row)).collect();
        if shown == expected {
            break;
        }
        assert!(started.elapsed() < crate::common::LONG, "{shown:?}\nis not\n{expected:?}");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let best = done["best_move"].as_str().unwrap();
    board.browser.until_true(&format!("document.querySelector('[data-move-best={best}]')")).await;
    assert_eq!(
        board.browser.attr("#analysis-panel", "data-last-seq").await.unwrap(),
        done["seq"].to_string()
    );
}

#[tokio::test]
async fn an_analysis_is_started_and_its_table_fills() {
    let Some(board) = Board::serve(&[]).await else { return };
    let browser = &board.browser;
    board.open("#moves=e2.e8.e3.e7.d3h.e6").await;

    // Nothing is started with what cannot be read, and the field says so.
    for (field, bad) in [
        ("depth", "abc"),
        ("depth", "-1"),
        ("depth", "99999"),
        ("time", "soon"),
        ("nodes", "1.5"),
        ("priority", "x"),
    ] {
        browser.fill(&id(field), bad).await;
        browser.click(&id("start")).await;
        browser.until_true(&format!("document.querySelector('#{field}-error').textContent")).await;
        browser.fill(&id(field), "").await;
    }
    assert_eq!(browser.attr("#analysis-panel", "data-job").await, None);
    assert_eq!(run(&["jobs", "--json", "--coordinator", &board.cluster]).stdout.lines().count(), 0);

    let job = board.start(&[("depth", "6"), ("multipv", "3")]).await;
    browser.until_true("document.querySelectorAll('.c-body .c-row').length > 20").await;
    board.until_state("done").await;
    let events = board.events(&job);
    same_as_programs_read(&board, &events).await;

    // Moves that were not searched are listed apart, with their reasons.
    let pruned = events[0]["pruned"].as_array().unwrap();
    browser.click("#pruned summary").await;
    let listed = browser
        .value("[...document.querySelectorAll('#pruned-list [data-testid]')].map(it => it.dataset.testid)")
        .await;
    let listed: BTreeSet<String> = serde_json::from_value(listed).unwrap();
    assert_eq!(listed, pruned.iter().map(|it| format!("pruned-{}", it["move"].as_str().unwrap())).collect());
    // The best move is told to whoever cannot see it.
    let best = events.last().unwrap()["best_move"].as_str().unwrap().to_owned();
    browser
        .until("document.querySelector('#announcer').textContent", |it| it.as_str().unwrap().contains(&best))
        .await;

    lines_are_played_on_the_board(&board, &events).await;
    heat_after_a_move(&board, &events).await;
    board.end().await;
}

/// Pointing at a row shows its line on the board.
async fn lines_are_played_on_the_board(board: &Board, events: &[Value]) {
    let ghosts = "[...document.querySelectorAll('[data-move-ghost]')].map(it => it.dataset.moveGhost)";
    let lines = events.last().unwrap()["lines"].as_array().unwrap();
    for line in [&lines[0], &lines[2]] {
        board.browser.hover(&format!("[data-testid='row-{}']", line["move"].as_str().unwrap())).await;
        let pv = line["pv"].as_array().unwrap();
        assert!(pv.len() >= 4, "{line}");
        board
            .browser
            .until(ghosts, |shown| {
                let shown = shown.as_array().unwrap();
                // A long line is not played to its end.
                shown.len() >= 4.min(pv.len()) && shown[..] == pv[..shown.len()]
            })
            .await;
    }
    board.browser.point(5.0, 5.0).await;
    board.browser.until(ghosts, |shown| shown.as_array().unwrap().is_empty()).await;
}

/// Choosing a row shows the heat after its move, as the stream has it.
async fn heat_after_a_move(board: &Board, events: &[Value]) {
    let browser = &board.browser;
    browser.click(&format!("label:has({})", id("heat-both"))).await;
    let shown = "[...Array(81).keys()].map(i => Number(document.querySelector(`[data-testid=square-${'abcdefghi'[i % 9]}${1 + Math.floor(i / 9)}]`).dataset.heat ?? -1))";
    let chosen = events.last().unwrap()["lines"][1]["move"].as_str().unwrap().to_owned();
    let heat_of = |mv: Value| events.iter().find(|it| it["event"] == "heat" && it["move"] == mv).unwrap();
    let after = heat_of(chosen.as_str().into())["cat_display"].clone();
    let before = heat_of(Value::Null)["cat_display"].clone();
    assert_ne!(after, before);
    browser.until(shown, |heat| *heat == before).await;
    browser.click(&format!("[data-testid='row-{chosen}']")).await;
    browser.until(shown, |heat| *heat == after).await;
    browser
        .until("document.querySelector('#heat-of').textContent", |it| it.as_str().unwrap().contains(&chosen))
        .await;
    browser.click(&format!("[data-testid='row-{chosen}']")).await;
    browser.until(shown, |heat| *heat == before).await;
}

#[tokio::test]
async fn an_analysis_is_paused_resumed_and_stopped_by_buttons_and_by_keys() {
    let Some(board) = Board::serve(&[]).await else { return };
    let browser = &board.browser;
    board.open("#moves=e2.e8.e3.e7").await;
    let job = board.start(&[("depth", "40"), ("time", "600")]).await;
    board.until_state("running").await;
    browser.click(&id("pause")).await;
    board.until_state("paused").await;
    // The list of jobs says the same.
    browser.until_attr(&id(&format!("job-{job}")), "data-state", "paused").await;
    browser.click(&id(&format!("resume-{job}"))).await;
    board.until_state("running").await;
    browser.click(&id("cancel")).await;
    board.until_state("done").await;
    assert_eq!(board.events(&job).last().unwrap()["stopped_by"], "cancel");

    // The same with keys alone: space starts, space stops.
    browser.run("document.activeElement.blur()", &[]).await;
    browser.keys(" ").await;
    let expression = "document.querySelector('#analysis-panel').dataset.job";
    browser.until(expression, |it| it.is_string() && it != job.as_str()).await;
    let second = board.job().await;
    board.until_state("running").await;
    browser.run("document.activeElement.blur()", &[]).await;
    browser.keys(" ").await;
    board.until_state("done").await;
    assert_eq!(board.events(&second).last().unwrap()["stopped_by"], "cancel");
    board.end().await;
}

#[tokio::test]
async fn the_audit_has_its_verdict_on_pruned_moves() {
    let Some(board) = Board::serve(&[]).await else { return };
    let browser = &board.browser;
    board.open("#moves=e2.e8.e3.e7.e4.e6.e3h.f6h.c6h").await;
    browser.run("document.querySelector('#prune').value = 'audit'", &[]).await;
    let job = board.start(&[("depth", "3")]).await;
    board.until_state("done").await;
    let events = board.events(&job);
    let audits: Vec<&Value> = events.iter().filter(|it| it["event"] == "audit").collect();
    assert!(!audits.is_empty());
    for audit in audits {
        let pruned = id(&format!("pruned-{}", audit["move"].as_str().unwrap()));
        let verdict = if audit["miss"] == true { "missed" } else { "checked" };
        let text = browser.value(&format!("document.querySelector({pruned:?}).textContent")).await;
        let text = text.as_str().unwrap();
        assert!(
            text.contains(verdict) && text.contains(&short(&audit["score_white"])[..1]),
            "{text}: {audit}"
        );
    }
    board.end().await;
}

#[tokio::test]
async fn two_tabs_look_at_one_job() {
    let Some(board) = Board::serve(&[]).await else { return };
    let browser = &board.browser;
    // A program has handed it in: the page need not have started it.
    let arguments = ["analyze", "--moves", "e2 e8 e3 e7 d3h e6", "--depth", "7"];
    let job = hand_in(&board.cluster, &arguments);
    board.open(&format!("#job={job}")).await;
    let first = browser.new_tab().await;
    board.open(&format!("#job={job}")).await;
    board.until_state("done").await;
    let events = board.events(&job);
    same_as_programs_read(&board, &events).await;
    browser.switch_to(first).await;
    board.until_state("done").await;
    same_as_programs_read(&board, &events).await;
    board.end().await;
}

#[tokio::test]
async fn an_analysis_follows_the_board_and_its_game_is_found_again() {
    let Some(board) = Board::serve(&[]).await else { return };
    let browser = &board.browser;
    board.open("#moves=e2.e8.e3.e7.e4.e6").await;
    browser.click(&format!("label:has({})", id("follow"))).await;
    board.start(&[("depth", "40"), ("time", "600")]).await;
    board.until_state("running").await;
    // Quicker than a job is accepted.
    browser.run("for (let i = 0; i < 4; i += 1) document.querySelector('#undo').click()", &[]).await;
    browser.run("document.querySelector('#redo').click()", &[]).await;
    browser.until_true("location.hash.includes('at=3')").await;
    let position = board.position().await;
    crate::common::eventually("what runs is what is on the board", || {
        let listed = run(&["jobs", "--json", "--coordinator", &board.cluster]);
        let jobs: Vec<Value> = crate::common::lines(&listed.stdout);
        let running: Vec<&Value> = jobs.iter().filter(|job| job["state"] == "running").collect();
        running.len() == 1 && running[0]["position"] == position.as_str()
    });
    browser.until_true("document.querySelector('#elsewhere').hidden").await;
    browser.click(&id("cancel")).await;
    board.until_state("done").await;

    // Somewhere else, and back: with the moves that led there.
    browser.click("#new-game").await;
    browser.until_true("!document.querySelector('#elsewhere').hidden").await;
    browser.click("#to-analysed").await;
    board.until_position(&position).await;
    assert!(browser.address().await.contains("#moves=e2.e8.e3"), "{}", browser.address().await);
    // Out of a field with Esc; then keys are the page's own.
    browser.click(&id("move-input")).await;
    browser.keys("\u{e00c}").await;
    browser.until_true("document.activeElement === document.body").await;
    browser.keys("\u{e012}").await;
    browser.until_true("location.hash.includes('at=2')").await;
    board.end().await;
}
