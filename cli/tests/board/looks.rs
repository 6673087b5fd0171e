//! How it looks: pictures of every view, light and dark, on a desk and on a telephone; and what a program finds that reads the page as a
//! blind person's would.

use std::path::PathBuf;

use crate::browser::Screen;
use crate::common::run;
use crate::{Board, id};

/// Where pictures go.
fn folder() -> PathBuf {
    match std::env::var_os("CORRIDOR_PICTURES") {
        Some(folder) => folder.into(),
        None => PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("board"),
    }
}

const SCREENS: [(&str, Screen); 4] = [
    ("desktop-light", Screen::DESKTOP),
    ("desktop-dark", Screen::DESKTOP.dark()),
    ("phone-light", Screen::PHONE),
    ("phone-dark", Screen::PHONE.dark()),
];

/// A picture of what is shown on each screen, and what axe says of it.
async fn look_at(board: &Board, view: &str) {
    for (name, screen) in SCREENS {
        board.browser.show_on(screen).await;
        // Colours and places have settled when no transition runs.
        board.browser.until_true("!document.getAnimations().some(it => it.playState === 'running')").await;
        board.browser.picture(&folder(), &format!("{view}-{name}")).await;
        assert_eq!(
            board.browser.value("document.documentElement.scrollWidth <= innerWidth").await,
            true,
            "{view} is wider than {name}"
        );
        if let Some(violations) = board.browser.axe().await {
            assert_eq!(violations, Vec::<String>::new(), "{view}, {name}");
        }
    }
    board.browser.show_on(Screen::DESKTOP).await;
}

#[tokio::test]
async fn every_view_in_every_light() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("corridor.db").to_str().unwrap().to_owned();
    let games = folder.path().join("games.txt");
    std::fs::write(&games, "e2 e8 e3 e7 e4 e6 e3h f6h c6h\ne2 e8 e3 e7 d3h\ne2 e8 d3h\n").unwrap();
    let imported = run(&["book", "import", games.to_str().unwrap(), "--notation", "man", "--store", &store]);
    assert_eq!(imported.code, 0, "{}", imported.stderr);
    let analysed = run(&["book", "analyze", "--depth", "3", "--store", &store]);
    assert_eq!(analysed.code, 0, "{}", analysed.stderr);

    let Some(board) = Board::serve(&["--store", &store]).await else { return };
    let browser = &board.browser;
    look_at(&board, "start").await;

    board.open("#moves=e2.e8.e3.e7.e4.e6.e3h.f6h.c6h").await;
    board.start(&[("depth", "40"), ("time", "600")]).await;
    // Deep enough to look like something.
    browser.until_true("document.querySelectorAll('[data-testid=graph-svg] circle').length >= 9").await;
    look_at(&board, "running").await;
    browser.click(&id("cancel")).await;
    board.until_state("done").await;
    look_at(&board, "done").await;

    // A line played on the board, and everything unfolded.
    browser.run("document.querySelectorAll('details').forEach(it => it.open = true)", &[]).await;
    browser.hover(".c-body .c-row").await;
    look_at(&board, "unfolded").await;
    browser.fill(&id("depth"), "x").await;
    browser.click(&id("start")).await;
    browser.until_true("document.querySelector('#depth-error').textContent").await;
    look_at(&board, "refused").await;
    browser.fill(&id("depth"), "").await;

    browser.click("#help").await;
    browser.until_true("document.querySelector('dialog[open]')").await;
    look_at(&board, "keys").await;
    browser.keys("\u{e00c}").await;
    board.check().await;

    // The cluster is gone.
    board.servers[0].signal("-KILL");
    browser.until_attr("#connection", "data-state", "stale").await;
    look_at(&board, "stale").await;
    board.end().await;
}

#[tokio::test]
async fn the_page_works_by_keys_alone_and_keeps_still_if_asked_to() {
    let Some(board) = Board::serve(&[]).await else { return };
    let browser = &board.browser;
    let media = serde_json::json!({"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]});
    browser.devtools("Emulation.setEmulatedMedia", media).await;
    board.open("").await;
    // To the board, a pawn forward, a wall beside it.
    let start = board.position().await;
    browser.keys("b").await;
    browser.until_true("document.activeElement.closest('#board')").await;
    for key in ["\u{e013}", "\u{e013}", "\u{e007}"] {
        browser.keys(key).await;
    }
    browser.until("document.querySelector('#board-svg').dataset.position", |it| it != start.as_str()).await;
    // To the move field and back to the table.
    browser.keys("\u{e00c}").await;
    browser.keys("m").await;
    browser.until_true("document.activeElement.id === 'move-input'").await;
    browser.keys("e8\u{e007}").await;
    browser
        .until("location.hash + document.querySelector('#move-error').textContent", |it| {
            *it == "#moves=e2.e8"
        })
        .await;
    browser.keys("\u{e00c}").await;
    board.start(&[("depth", "4")]).await;
    board.until_state("done").await;
    browser.run("document.activeElement.blur()", &[]).await;
    browser.keys("c").await;
    browser.until_true("document.activeElement.closest('.c-body')").await;
    browser.keys("\u{e015}").await;
    browser.until_true("document.querySelectorAll('[data-move-ghost]').length > 0").await;
    // Nothing glides, whatever moved.
    assert_eq!(browser.value("document.getAnimations().length").await, 0);
    // Through all that can be reached: every stop is visible and has a name.
    browser.run("document.activeElement.blur(); scrollTo(0, 0)", &[]).await;
    let mut stops = std::collections::BTreeSet::new();
    for _ in 0..80 {
        browser.keys("\u{e004}").await;
        let stop = browser
            .value("(() => { const it = document.activeElement; const box = it.getBoundingClientRect(); return [it.id || it.dataset.testid || it.dataset.ply || it.textContent, box.width * box.height > 0 || it.type === 'radio' || it.tagName === 'A']; })()")
            .await;
        assert_eq!(stop[1], true, "{stop}");
        stops.insert(stop[0].to_string());
    }
    for needed in ["undo", "flip", "move-input", "depth", "start", "theme"] {
        assert!(stops.contains(&format!("\"{needed}\"")), "{needed} cannot be reached: {stops:?}");
    }
    board.end().await;
}
