//! The notations against values: each one's anchor, what disproves it, codes and whole games.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on panics")]

use corridor_shared::notation::{
    Game, GameResult, MAX_MOVES_BYTES, MAX_PLIES, Notation, ParseMovesError, ParseStateError, format_game,
    format_moves, parse_games, parse_moves, qf, replay, replay_all,
};
use corridor_shared::{Color, Move, Position, Wall};

const GAMES: &str = include_str!("data/games.txt");
const NAMED: &str = include_str!("data/named.txt");

fn man(text: &str) -> Vec<Move> {
    parse_moves(Notation::Man, text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[track_caller]
fn reads(notation: Notation, text: &str, expected: &str) {
    assert_eq!(parse_moves(notation, text), Ok(man(expected)), "{notation}: {text}");
}

#[track_caller]
fn writes(notation: Notation, text: &str, expected: &str) {
    assert_eq!(format_moves(notation, &man(text)).unwrap(), expected, "{notation}: {text}");
}

/// The text does not read, and the message is exactly this.
#[track_caller]
fn refused(notation: Notation, text: &str, message: &str) {
    let error = parse_moves(notation, text).expect_err("has to be refused").to_string();
    assert_eq!(error, message, "{notation}: {text}");
    assert!(!error.contains('\n'));
}

/// The games of the collection, without their results.
fn games() -> Vec<Vec<Move>> {
    let lines = GAMES.lines().filter(|line| !line.starts_with('#'));
    let games: Vec<_> = lines.filter_map(|line| line.split_once('\t')).map(|(_, moves)| man(moves)).collect();
    assert_eq!(games.len(), 4);
    games
}

#[test]
fn every_notation_has_its_anchor() {
    let text = "e2 e8 e3h d4v h8h a1v";
    writes(Notation::Man, text, "e2 e8 e3h d4v h8h a1v");
    writes(Notation::Nw, text, "e2 e8 e4h d5v h9h a2v");
    writes(Notation::Flip, text, "e8 e2 e6h d5v h1h a8v");
    writes(Notation::Prefix, text, "e2 e8 he3 vd4 hh8 va1");
    writes(Notation::Qtp, text, "e2 e8 e4 h d5 v h9 h a2 v");
    writes(Notation::Tq1, text, "tq1#{} e2 e8 e3h d4v h8h a1v");
}

#[test]
fn what_is_written_is_read_back() {
    for moves in games() {
        for notation in Notation::ALL {
            let text = format_moves(notation, &moves).unwrap();
            assert_eq!(parse_moves(notation, &text), Ok(moves.clone()), "{notation}: {text}");
        }
    }
}

#[test]
fn flip_is_its_own_inverse_and_maps_the_known_games() {
    reads(Notation::Flip, "e8 e2 e7 e3 e6 e4 c8v", "e2 e8 e3 e7 e4 e6 c1v");
    reads(Notation::Flip, "c3h a3h f3h h3h", "c6h a6h f6h h6h");
    for moves in games() {
        let once = parse_moves(Notation::Flip, &format_moves(Notation::Man, &moves).unwrap()).unwrap();
        assert_ne!(once, moves);
        let twice = parse_moves(Notation::Flip, &format_moves(Notation::Man, &once).unwrap()).unwrap();
        assert_eq!(twice, moves);
    }
}

#[test]
fn a_misread_anchor_is_legal_all_the_same_so_nothing_is_guessed() {
    // Read in the wrong notation this replays, every wall one rank off.
    let nw = "e2 e8 e3 e7 e4 e6 e4h f7h c7h a7h";
    let misread = man(nw);
    assert!(replay(&Position::start(), &misread).is_ok());
    assert_ne!(parse_moves(Notation::Nw, nw).unwrap(), misread);
    // The first string of S9 fails at once, though.
    let flipped = man("e8 e2 e7 e3 e6 e4 c8v");
    let error = replay(&Position::start(), &flipped).unwrap_err();
    assert_eq!(error.ply, 1);
    assert_eq!(error.to_string(), "ply 1 (e8): White's pawn cannot move from e1 to e8");
}

#[test]
fn a_disproved_notation_is_refused() {
    refused(
        Notation::Man,
        "e2 e8 e9h",
        "ply 3: 'e9h' is not a move: walls run from a1 to h8; one on rank 9 proves another notation (nw or qtp)",
    );
    refused(
        Notation::Nw,
        "e2 e1h",
        "ply 2: 'e1h' is not a move: a wall on rank 1 disproves this notation: walls run from a2 to h9",
    );
    refused(
        Notation::Qtp,
        "e2 e1 v",
        "ply 2: 'e1' is not a move: a wall on rank 1 disproves this notation: walls run from a2 to h9",
    );
    for (notation, text) in [
        (Notation::Flip, "e9h"),
        (Notation::Prefix, "he9"),
        (Notation::Tq1, "he9"),
        (Notation::Tq1, "e9h"),
        (Notation::Nw, "i5h"),
        (Notation::Man, "i5v"),
        (Notation::Man, "he3"),
        (Notation::Nw, "he3"),
        (Notation::Prefix, "e3h"),
    ] {
        let error = parse_moves(notation, text).expect_err(text);
        assert!(matches!(error, ParseMovesError::Token { ply: 1, .. }), "{notation} {text}: {error}");
    }
}

#[test]
fn bad_tokens_name_their_ply() {
    let what = "a square is a file a..i and a rank 1..9";
    refused(Notation::Man, "e2 e8 j3", &format!("ply 3: 'j3' is not a move: {what}"));
    refused(Notation::Man, "e2 e8 e0", &format!("ply 3: 'e0' is not a move: {what}"));
    refused(Notation::Man, "E2", &format!("ply 1: 'E2' is not a move: {what}"));
    refused(Notation::Man, "e3x", "ply 1: 'e3x' is not a move: a wall ends in 'h' or 'v'");
    let shape = "a move is a square (e2) or a wall (e3h)";
    refused(Notation::Man, "e2 e10h", &format!("ply 2: 'e10h' is not a move: {shape}"));
    refused(Notation::Man, "e2 \u{e9}2\u{0}", &format!("ply 2: '\u{e9}2\\0' is not a move: {shape}"));
    refused(
        Notation::Man,
        &"x".repeat(1000),
        &format!("ply 1: '{}...' is not a move: {shape}", "x".repeat(20)),
    );
}

#[test]
fn move_numbers_with_and_without_spaces() {
    let expected = "e2 e8 e3h h8 h2 h7h e3";
    for text in [
        "1. e2 e8 2. e3h h8 3. h2 h7h 4. e3",
        "1.e2 e8 2.e3h h8 3.h2 h7h 4.e3",
        "1.e2e82.e3hh83.h2h7h4.e3",
        "1. e2 1... e8 2. e3h 2... h8 3. h2 3... h7h 4. e3 1-0",
        "1.\te2\r\ne8\n2. e3h ... h8 3.h2 h7h 4.e3 *",
        "e2e8e3hh8h2h7he3",
        "GAME e2 e8 e3h h8 h2 h7h e3",
        "GAME e2 e8 e3h h8 h2 h7h e3\nRESULT W\n",
    ] {
        reads(Notation::Man, text, expected);
    }
    reads(Notation::Prefix, "1.e2e82.he3h83.h2hh74.e3", expected);
    reads(Notation::Prefix, "1. e2 e8 2. he3 h8 3. h2 hh7 4. e3", expected);
    reads(Notation::Tq1, "1. e2 e8 2. he3 h8 3. h2 h7h 4.e3", expected);
    refused(Notation::Man, "1. e2 e8 3. e3", "ply 3: '3' is not a move: this move number is out of order");
    refused(Notation::Man, "1. e2 2. e8", "ply 2: '2' is not a move: this move number is out of order");
    refused(
        Notation::Man,
        "99999999999999999999999. e2",
        "ply 1: '99999999999999999999...' is not a move: this move number is out of order",
    );
    refused(Notation::Man, "... e8", "ply 1: '..' is not a move: dots stand before Black's moves");
    refused(Notation::Man, "e2 RESULT X", "ply 1: 'X' is not a move: a RESULT is W, B, D or *");
}

#[test]
fn numbers_of_two_digits_behind_a_wall_or_a_file_h() {
    // Ten full moves, then `e3h11.`: nine plies of steps and one wall, the number 11 follows.
    let ten = "e2 e8 e3 e7 e2 e8 e3 e7 e2 e8 e3 e7 e2 e8 e3 e7 e2 e8 e3";
    let run = ten.replace(' ', "");
    reads(Notation::Man, &format!("{run}e3h11.e2"), &format!("{ten} e3h e2"));
    reads(Notation::Man, "e3h12.e5", "e3 h1 e5");
    reads(Notation::Man, "e2e3h2.e5", "e2 e3h e5");
}

#[test]
fn qtp_reads_commands_and_holds_the_colours_against_the_turn() {
    let expected = "e2 e8 e3h d4v";
    for text in [
        "e2 e8 e4 h d5 v",
        "white e2 black e8 white e4 h black d5 v",
        "playmove white e2\nplaymove black e8\nplaywall white e4 h\nplaywall black d5 v\n",
        "playmove WHITE E2 playmove b e8 playwall w E4 horizontal playwall black d5 vertical",
        "1. e2 e8 2. e4 h d5 v",
        "e2 e8 e4h d5v",
    ] {
        reads(Notation::Qtp, text, expected);
    }
    refused(Notation::Qtp, "white e2 white e8", "ply 2: 'white' is not a move: it is Black's turn");
    refused(Notation::Qtp, "black e8", "ply 1: 'black' is not a move: it is White's turn");
    refused(
        Notation::Qtp,
        "e2 h h",
        "ply 2: 'h' is not a move: a move is a square (e2) or a square and an orientation (e4 h)",
    );
}

#[test]
fn tq1_heads_are_stripped() {
    reads(Notation::Tq1, "tq1#{\"a\":\"}\\\"{\",\"b\":{}} e2 e8 he3 d4v", "e2 e8 e3h d4v");
    reads(Notation::Tq1, "tq1#{}e2 e8", "e2 e8");
    reads(Notation::Tq1, "e2 h8 hh8", "e2 h8 h8h");
    reads(Notation::Tq1, "tq1#{}", "");
    refused(Notation::Tq1, "tq1#{\"a\":1 e2", "not tq1: the braces of the head are not closed");
    refused(Notation::Tq1, "tq1#e2", "not tq1: after 'tq1#' comes an object in braces");
}

/// A state code against its position, owners of walls, last wall and turn.
#[track_caller]
fn state(code: &str, text: &str, white: &str, black: &str, last: Option<&str>, turn_number: u16) {
    let state = qf::State::decode(code).unwrap();
    assert_eq!(state.position().unwrap().to_string(), text);
    let owned = |walls: &[Wall]| walls.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    assert_eq!([owned(&state.walls[0]), owned(&state.walls[1])], [white, black]);
    assert_eq!(state.last_wall, last.map(|wall| wall.parse::<Wall>().unwrap().slot()));
    assert_eq!(state.turn_number, turn_number);
    assert_eq!(state.encode(), code);
}

#[test]
fn qf_states() {
    state("hsMBzAHMBA", "/ d7 / e2 e8 / 9 10 / 2", "d7v", "", Some("d7v"), 4);
    state("hsMBzHIPIBQ", "c7 / d7 / e2 e8 / 9 9 / 1", "d7v", "c7h", Some("c7h"), 5);
    state("j7EUwGwOwCQ", "d3e6 / / e4 e6 / 9 9 / 1", "d3h", "e6h", Some("e6h"), 9);
    state("i0MAFQNQBQ", "e3 / / e3 e8 / 10 9 / 1", "", "e3h", Some("e3h"), 5);
    state(
        "j8dU1V7Liz3AFMFA",
        "d3e6f3g6h3 / d7h7 / e4 i8 / 3 10 / 2",
        "d3h f3h h3h e6h g6h d7v h7v",
        "",
        Some("d3h"),
        20,
    );
}

#[test]
fn qf_states_of_games() {
    assert_eq!(qf::State::after(&man("e2 e8 d7v")).unwrap().encode(), "hsMBzAHMBA");
    assert_eq!(qf::State::after(&man("e2 e8 e3 e3h")).unwrap().encode(), "i0MAFQNQBQ");
    assert_eq!(qf::State::after(&man("e2 e8 e3 e7 e4 e6 d3h e6h")).unwrap().encode(), "j7EUwGwOwCQ");
    for moves in games() {
        for (plies, position) in replay_all(&Position::start(), &moves).unwrap().into_iter().enumerate() {
            let code = qf::State::after(&moves[..plies]).unwrap().encode();
            assert_eq!(qf::State::decode(&code).unwrap().position(), Ok(position), "{code}");
        }
    }
}

#[test]
fn qf_records() {
    let code = "ReBPNKwglK4p8Gkm5WkJ0CvCzSZGKEZmgmRkqm8QuSQCYmJiQkBAICZGQC2+IAhqBhRERiAgRkYgIE";
    let third = &games()[2];
    assert_eq!(third.len(), 94);
    assert_eq!(parse_moves(Notation::Qf, code).as_ref(), Ok(third));
    assert_eq!(format_moves(Notation::Qf, third).unwrap(), code);
    assert_eq!(parse_moves(Notation::Qf, &format!(" {code}==\n")).as_ref(), Ok(third));
    // A jump is its direction alone.
    let jump = man("e2 e8 e3 e7 e4 e6 e5 e4");
    let written = format_moves(Notation::Qf, &jump).unwrap();
    assert_eq!(parse_moves(Notation::Qf, &written), Ok(jump));
}

#[test]
fn broken_qf_codes_are_refused() {
    refused(Notation::Qf, "hsMBzAHMBA", "not qf: the code holds a state, not a record of moves");
    refused(Notation::Qf, "ReBPNKwglK", "not qf: the code ends early");
    refused(Notation::Qf, "Re BP", "not qf: the code has characters outside of standard base64");
    refused(Notation::Qf, "AAAA", "not qf: the code is neither a state nor a record");
    // One ply, to the south, off the board.
    refused(Notation::Qf, "QBQ", "ply 1: 'south' is not a move: the pawn would leave the board");
    // One ply, to the north-east, which is no step.
    refused(Notation::Qf, "QBE", "ply 1 (f2): White's pawn cannot move from e1 to f2");
    for (code, message) in [
        ("hsMBzAHMB", "not qf: the code ends early"),
        ("hsMBzAHMBAAAAA", "not qf: the code goes on after its end"),
        ("hsMBzAHMBB", "not qf: the code goes on after its end"),
        ("hsM!", "not qf: '!' is not a character of standard base64"),
        ("", "not qf: the code ends early"),
        ("ReBPNK", "not qf: the code holds a record of moves, not a state"),
    ] {
        let error = qf::State::decode(code).expect_err(code).to_string();
        assert_eq!(error, message, "{code}");
    }
    let mut eleven = qf::State::after(&[]).unwrap();
    eleven.walls[1] = (0..4)
        .flat_map(|column| (0..3).map(move |row| (column, row)))
        .take(11)
        .map(|(column, row)| {
            Wall::new(corridor_shared::Orientation::Horizontal, column * 2, row * 2).unwrap()
        })
        .collect();
    assert_eq!(qf::State::decode(&eleven.encode()), Err(ParseStateError::TooManyWalls(Color::Black, 11)));
    let mut late = qf::State::after(&man("e2 e8 d7v")).unwrap();
    late.turn_number = 5;
    assert!(qf::State::decode(&late.encode()).is_err());
}

#[test]
fn limits() {
    let plies = |count: usize| vec!["e2"; count].join(" ");
    assert_eq!(parse_moves(Notation::Man, &plies(MAX_PLIES)).unwrap().len(), MAX_PLIES);
    refused(Notation::Man, &plies(MAX_PLIES + 1), "the game has more than 4096 plies");
    let rubbish = "e2 ".repeat(10 * 1024 * 1024 / 3);
    assert!(rubbish.len() > MAX_MOVES_BYTES);
    for notation in Notation::ALL {
        assert_eq!(parse_moves(notation, &rubbish), Err(ParseMovesError::TooLong(rubbish.len())));
    }
    let shuffles = |count: usize| man(&"e2 e8 e1 e9 ".repeat(count.div_ceil(4)))[..count].to_vec();
    let longest = format_moves(Notation::Qf, &shuffles(1023)).unwrap();
    assert_eq!(parse_moves(Notation::Qf, &longest).unwrap().len(), 1023);
    assert_eq!(
        format_moves(Notation::Qf, &shuffles(1024)).unwrap_err().to_string(),
        "qf holds at most 1023 plies, not 1024"
    );
}

#[test]
fn names_of_notations() {
    for notation in Notation::ALL {
        assert_eq!(notation.to_string().parse(), Ok(notation));
    }
    assert_eq!(
        "MAN".parse::<Notation>().unwrap_err().to_string(),
        "'MAN' is not a notation; there are man, nw, flip, prefix, qtp, tq1 and qf"
    );
}

#[test]
fn the_collections_are_legal() {
    let lengths: Vec<usize> = games().iter().map(Vec::len).collect();
    assert_eq!(lengths, [22, 63, 94, 25]);
    let named: Vec<&str> = NAMED.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(named.len(), 23);
    let moves = named.into_iter().filter_map(|line| line.split_once('\t')).map(|(_, moves)| man(moves));
    for moves in moves.chain(games()) {
        assert!(replay(&Position::start(), &moves).is_ok());
    }
}

#[test]
fn replay_names_the_ply() {
    let moves = man("e2 e8 e3h e3v");
    let error = replay(&Position::start(), &moves).unwrap_err();
    assert_eq!((error.ply, error.to_string().as_str()), (4, "ply 4 (e3v): wall e3v crosses e3h"));
    assert_eq!(replay_all(&Position::start(), &moves), Err(error));
    assert_eq!(replay_all(&Position::start(), &moves[..3]).unwrap().len(), 4);
}

#[test]
fn collections_of_games() {
    let text = "# two games\nGAME e2 e8 e3h\nRESULT W\n\nGAME e2\nGAME\nRESULT *\n";
    let games = parse_games(Notation::Man, text).unwrap();
    let results: Vec<_> = games.iter().map(|game| (game.moves.len(), game.result)).collect();
    assert_eq!(
        results,
        [(3, Some(GameResult::Won(Color::White))), (1, None), (0, Some(GameResult::Unfinished))]
    );
    let game = Game { moves: man("e2 e8 e3h"), result: Some(GameResult::Drawn) };
    assert_eq!(format_game(Notation::Nw, &game).unwrap(), "GAME e2 e8 e4h\nRESULT D\n");
    for (text, message) in [
        ("GAME e2\nGAME e2 x", "line 2: ply 2: 'x' is not a move: a move is a square (e2) or a wall (e3h)"),
        ("RESULT W", "line 1: RESULT 'W': there is no game before it"),
        ("GAME\nRESULT W\nRESULT B", "line 3: RESULT 'B': the game before it has one already"),
        ("GAME\nRESULT X", "line 2: RESULT 'X': W, B, D or * is wanted"),
        ("e2 e8", "line 1: 'e2' starts neither GAME nor RESULT"),
    ] {
        assert_eq!(parse_games(Notation::Man, text).unwrap_err().to_string(), message);
    }
}
