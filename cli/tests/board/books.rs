//! A book on the page.

use serde_json::Value;

use crate::common::run;
use crate::{Board, id};

const GAMES: &str = "e2 e8 e3 e7 e4 e6\ne2 e8 e3 e7 d3h\ne2 e8 d3h\n";

#[tokio::test]
async fn a_book_is_walked_and_grown() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("corridor.db").to_str().unwrap().to_owned();
    let games = folder.path().join("games.txt");
    std::fs::write(&games, GAMES).unwrap();
    let imported = run(&["book", "import", games.to_str().unwrap(), "--notation", "man", "--store", &store]);
    assert_eq!(imported.code, 0, "{}", imported.stderr);

    let Some(board) = Board::serve(&["--store", &store]).await else { return };
    let browser = &board.browser;
    let rows = "[...document.querySelectorAll('#book-rows [data-testid^=book-row-]')].map(it => it.dataset.testid.slice(9))";
    // The start has one move in this book, the position after it one more; a click walks.
    browser.until(rows, |it| *it == serde_json::json!(["e2"])).await;
    browser.click(&id("book-row-e2")).await;
    browser.until(rows, |it| *it == serde_json::json!(["e8"])).await;
    browser.click(&id("book-row-e8")).await;
    browser.until(rows, |it| it.as_array().is_some_and(|rows| rows.len() == 2)).await;

    // All of it is analysed from the page, and children have the values that programs read.
    browser.click("#book-work summary").await;
    browser.fill(&id("book-depth"), "2").await;
    browser.click(&id("book-analyze")).await;
    let node = || -> Value {
        let shown =
            run(&["book", "show", "e2", "e8", "--plies", "0", "--json", "--coordinator", &board.cluster]);
        assert_eq!(shown.code, 0, "{}", shown.stderr);
        serde_json::from_str(shown.stdout.lines().next().unwrap()).unwrap()
    };
    crate::common::eventually("the book is analysed", || {
        node()["depth"].as_u64().is_some_and(|depth| depth >= 2)
    });
    let text = "document.querySelector('#book-rows').textContent";
    let children = node()["children"].as_object().unwrap().clone();
    assert_eq!(children.len(), 2);
    for score in children.values() {
        let cm = score["cm"].as_i64().unwrap();
        let expected = format!("{}.{:02}", cm.abs() / 100, cm.abs() % 100);
        browser.until(text, |it| it.as_str().unwrap().contains(&expected)).await;
    }

    // A move that is not in the book: it says so.
    browser.fill(&id("move-input"), "a1h\n").await;
    browser.until_true("document.querySelector('#book-none').textContent && !document.querySelector('#book-none').hidden").await;
    browser.keys("\u{e004}").await;
    // Bad input is named next to its field.
    browser.fill(&id("book-depth"), "x").await;
    browser.click(&id("book-analyze")).await;
    browser.until_true("document.querySelector('#book-depth-error').textContent").await;
    board.end().await;
}
