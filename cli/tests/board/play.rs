//! A game on the board, without any search.

use corridor_shared::board::Position;
use corridor_shared::cat::{build_corridor_attention, cat_snapshot};
use serde_json::Value;

use crate::common::run;
use crate::{Board, id};

fn after(moves: &str) -> Position {
    let play = |position: Position, token: &str| position.play(token.parse().unwrap()).unwrap();
    moves.split_whitespace().fold(Position::start(), play)
}

/// Brings the pointer over a wall's slot: where its middle is for a horizontal one, one of its arms for a vertical one.
async fn point_at(board: &Board, slot: &str) {
    board.browser.hover(&id(&format!("slot-{slot}"))).await;
}

#[tokio::test]
async fn a_position_is_set_up_by_hand() {
    let Some(board) = Board::serve(&[]).await else { return };
    let browser = &board.browser;
    board.until_position(&Position::start().to_string()).await;

    browser.click(&id("square-e2")).await;
    board.until_position(&after("e2").to_string()).await;
    assert_eq!(browser.attr(&id("pawn-white"), "data-square").await.unwrap(), "e2");
    browser.click(&id("square-e8")).await;
    board.until_position(&after("e2 e8").to_string()).await;

    // Three rows away, and not where a pawn may go: it says so and stays.
    browser.click(&id("square-a5")).await;
    browser.until_true("document.querySelector('#board-hint').textContent.includes('a5')").await;
    assert_eq!(board.position().await, after("e2 e8").to_string());

    point_at(&board, "e3h").await;
    browser.until_attr(&id("wall-preview"), "data-move-preview", "e3h").await;
    assert!(!browser.attr(&id("wall-preview"), "class").await.unwrap().contains("illegal"));
    browser.click(&id("slot-e3h")).await;
    board.until_position(&after("e2 e8 e3h").to_string()).await;
    browser.until_true("document.querySelector('[data-testid=wall-e3h]')").await;

    // It overlaps the wall that stands: the pointer is told why, and a click changes nothing.
    for slot in ["d3h", "e3v"] {
        point_at(&board, slot).await;
        browser.until_attr(&id("wall-preview"), "data-move-preview", slot).await;
        assert!(browser.attr(&id("wall-preview"), "class").await.unwrap().contains("illegal"), "{slot}");
        let why = after("e2 e8 e3h").play(slot.parse().unwrap()).unwrap_err().to_string();
        let hint = browser.text(&id("board-hint")).await;
        assert!(hint.contains(&why), "{hint} does not say: {why}");
        browser.click(&id(&format!("slot-{slot}"))).await;
        assert_eq!(board.position().await, after("e2 e8 e3h").to_string());
    }

    // Walls in hand and the way to the goal, in words.
    let near = browser.text(&id("player-near")).await;
    assert!(near.contains('9') && near.contains("White"), "{near}");
    board.end().await;
}

#[tokio::test]
async fn a_game_is_walked_through_and_the_address_carries_it() {
    let Some(board) = Board::serve(&[]).await else { return };
    let browser = &board.browser;
    browser.fill(&id("move-input"), "e2 e8 e3 e7 d3h\n").await;
    board.until_position(&after("e2 e8 e3 e7 d3h").to_string()).await;
    for (button, moves) in
        [("undo", "e2 e8 e3 e7"), ("first", ""), ("redo", "e2"), ("last", "e2 e8 e3 e7 d3h")]
    {
        browser.click(&format!("#{button}")).await;
        board.until_position(&after(moves).to_string()).await;
    }
    browser.run("document.activeElement.blur()", &[]).await;
    for (key, moves) in
        [('\u{e012}', "e2 e8 e3 e7"), ('\u{e011}', ""), ('\u{e014}', "e2"), ('\u{e010}', "e2 e8 e3 e7 d3h")]
    {
        browser.keys(&key.to_string()).await;
        board.until_position(&after(moves).to_string()).await;
    }
    // Somebody else opens the same address.
    let address = browser.address().await;
    assert!(address.contains("#moves=e2.e8.e3.e7.d3h"), "{address}");
    board.open(address.strip_prefix(&board.page).unwrap()).await;
    board.until_position(&after("e2 e8 e3 e7 d3h").to_string()).await;
    // In the middle of the game, the address says that too.
    browser.click("#undo").await;
    board.until_position(&after("e2 e8 e3 e7").to_string()).await;
    browser.reload().await;
    board.until_position(&after("e2 e8 e3 e7").to_string()).await;
    browser.click("#redo").await;
    board.until_position(&after("e2 e8 e3 e7 d3h").to_string()).await;

    // Turning the board round is for the eye only.
    let height = "document.querySelector('[data-testid=pawn-white]').getBoundingClientRect().top";
    let upright = browser.value(height).await.as_f64().unwrap();
    browser.click("#flip").await;
    browser.until(height, |now| now.as_f64().unwrap() < upright).await;
    board.until_position(&after("e2 e8 e3 e7 d3h").to_string()).await;
    assert_eq!(browser.attr(&id("pawn-white"), "data-square").await.unwrap(), "e3");
    board.end().await;
}

#[tokio::test]
async fn positions_and_games_are_pasted_and_copied() {
    let Some(board) = Board::serve(&[]).await else { return };
    let browser = &board.browser;
    browser.fill(&id("move-input"), "e2 e8\n").await;
    board.until_position(&after("e2 e8").to_string()).await;
    browser.click("#exchange summary").await;

    // What cannot be read is said next to its field, and the board stays as it was. It is never taken for HTML.
    let hostile = "<img src=x onerror=alert(1)>";
    for bad in ["", "nonsense", hostile, "9/9/9/9/9/9/9/9/9 w"] {
        browser.fill(&id("paste-text"), bad).await;
        browser.click(&id("paste-load")).await;
        browser.until_true("document.querySelector('#paste-error').textContent").await;
        assert_eq!(browser.value("document.querySelectorAll('#exchange img').length").await, 0);
        assert_eq!(board.position().await, after("e2 e8").to_string(), "{bad}");
        browser.fill(&id("paste-text"), "").await;
    }
    for bad in ["i9", "e5", hostile] {
        browser.fill(&id("move-input"), &format!("{bad}\n")).await;
        browser.until_true("document.querySelector('#move-error').textContent").await;
        assert_eq!(board.position().await, after("e2 e8").to_string(), "{bad}");
    }
    browser.fill(&id("move-input"), "").await;

    // A position's own text.
    let position = after("e2 e8 e3 e7 d3h c6v").to_string();
    browser.fill(&id("paste-text"), &position).await;
    browser.click(&id("paste-load")).await;
    board.until_position(&position).await;
    assert_eq!(browser.text("#paste-error").await, "");

    // A game in every notation that the program has, there and back.
    let game = "e2 e8 e3 e7 d5h c6v e4 e6";
    let notations =
        browser.value("[...document.querySelectorAll('#paste-kind option')].map(it => it.value)").await;
    let notations: Vec<String> = serde_json::from_value(notations).unwrap();
    let notations: Vec<&String> = notations.iter().filter(|it| *it != "position").collect();
    assert!(notations.len() >= 4, "{notations:?}");
    for notation in notations {
        let converted = run(&["convert", "--from", "man", "--to", notation, game]);
        assert_eq!(converted.code, 0, "{notation}: {}", converted.stderr);
        let text = converted.stdout.trim();
        browser.click("#new-game").await;
        board.until_position(&Position::start().to_string()).await;
        browser
            .run("document.querySelector('#paste-kind').value = arguments[0]", &[notation.as_str().into()])
            .await;
        browser.fill(&id("paste-text"), text).await;
        browser.click(&id("paste-load")).await;
        board.until_position(&after(game).to_string()).await;
        let choose = "const it = document.querySelector('#copy-notation'); it.value = arguments[0]; \
                      document.querySelector('#copied').value = ''";
        browser.run(choose, &[notation.as_str().into()]).await;
        browser.click(&id("copy-moves")).await;
        let copied = browser.until("document.querySelector('#copied').value", |it| it != "").await;
        assert_eq!(copied, text, "{notation}");
    }
    browser.click(&id("copy-position")).await;
    browser.until("document.querySelector('#copied').value", |it| *it == after(game).to_string()).await;
    board.end().await;
}

/// The heat that the squares show, a1 first; `null` where there is none.
async fn shown_heat(board: &Board) -> Vec<Value> {
    let squares = board
        .browser
        .value("[...Array(81).keys()].map(i => document.querySelector(`[data-testid=square-${'abcdefghi'[i % 9]}${1 + Math.floor(i / 9)}]`).dataset.heat ?? null)")
        .await;
    squares.as_array().unwrap().clone()
}

fn numbers(heat: &[u16]) -> Vec<Value> {
    heat.iter().map(|cm| cm.to_string().into()).collect()
}

#[tokio::test]
async fn heat_is_what_the_engine_says_it_is() {
    let Some(board) = Board::serve(&[]).await else { return };
    let (browser, position) = (&board.browser, after("e2 e8 e3 e7 e4 e6 e3h f6h c6h"));
    board.open("#moves=e2.e8.e3.e7.e4.e6.e3h.f6h.c6h").await;
    let (heat, [white, black]) = (cat_snapshot(&position), build_corridor_attention(&position).players);
    let click = async |test_id: &str| browser.click(&format!("label:has({})", id(test_id))).await;
    for (table, who, expected) in [
        ("heat-display", "heat-both", heat.display.to_vec()),
        ("heat-search", "heat-both", heat.search.to_vec()),
        ("heat-display", "heat-white", white.to_vec()),
        ("heat-display", "heat-black", black.to_vec()),
    ] {
        click(table).await;
        click(who).await;
        let expected = numbers(&expected);
        let started = std::time::Instant::now();
        while shown_heat(&board).await != expected {
            assert!(started.elapsed() < crate::common::LONG, "{table} {who}: {:?}", shown_heat(&board).await);
        }
    }
    // Walls that are searched have an outline, those that are not their reason when pointed at.
    click("heat-both").await;
    click("heat-display").await;
    let searched = heat.walls.iter().filter(|it| it.reason.is_searched()).count();
    browser.until("document.querySelectorAll('[data-slot].out').length", |count| *count == searched).await;
    let skipped = heat.walls.iter().find(|it| !it.reason.is_searched()).unwrap();
    browser.hover(&id(&format!("slot-{}", skipped.wall))).await;
    let expected = skipped.reason.name();
    browser
        .until("document.querySelector('#board-hint').textContent", |hint| {
            hint.as_str().unwrap().contains(expected)
        })
        .await;
    click("heat-off").await;
    browser.until_true("!document.querySelector('[data-heat]')").await;
    board.end().await;
}
