//! Properties of the rules and of every parser, on positions reached by random play.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on panics")]

use corridor_shared::cat::cat_snapshot;
use corridor_shared::eval::{EvalInput, Evaluation, HandMade};
use corridor_shared::notation::{Notation, format_moves, parse_games, parse_moves, qf, replay, replay_all};
use corridor_shared::{Color, Move, Position, Square, Wall};
use proptest::prelude::*;

/// A game of legal moves, chosen by the numbers; walls and pawn moves are about equally likely.
fn game(choices: &[u16]) -> Vec<Move> {
    let mut position = Position::start();
    let mut moves = Vec::new();
    for &choice in choices {
        let legal = position.legal_moves();
        let wants_pawn = choice % 2 == 0;
        let half: Vec<Move> = legal.iter().copied().filter(|mv| mv.is_pawn() == wants_pawn).collect();
        let pool = if half.is_empty() { legal.to_vec() } else { half };
        let Some(&mv) = pool.get(usize::from(choice / 2) % pool.len().max(1)) else { break };
        position = position.after(mv);
        moves.push(mv);
    }
    moves
}

fn any_game() -> impl Strategy<Value = Vec<Move>> {
    prop::collection::vec(any::<u16>(), 0..80).prop_map(|choices| game(&choices))
}

fn any_position() -> impl Strategy<Value = Position> {
    any_game().prop_map(|moves| replay(&Position::start(), &moves).unwrap())
}

fn all_moves() -> impl Iterator<Item = Move> {
    (0..209).filter_map(Move::from_index)
}

/// Strings near the grammars, so that parsers get past their first character.
fn near_moves() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-j0-9hv.* ]{0,60}",
        "([a-i][1-9][hv]? ?){0,30}",
        "([hv]?[a-i][1-9] ?){0,30}",
        "([0-9]{1,2}\\.{1,3} ?[a-i][1-9][hv]? ?){0,20}",
        "tq1#\\{[\"{}\\\\a:1]{0,12}\\} ?([a-i][1-9][hv]? ?){0,10}",
        "[A-Za-z0-9+/]{0,60}=?",
        "(playmove|playwall)? ?(white|black)? ?[a-i][1-9] ?[hv]?",
        any::<String>(),
    ]
}

fn near_positions() -> impl Strategy<Value = String> {
    prop_oneof![
        "([a-i][1-9]){0,6} / ([a-i][1-9]){0,6} / [a-i][1-9] [a-i][1-9] / 1?[0-9] 1?[0-9] / [12]",
        "[a-i0-9/ ]{0,60}",
        any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn a_move_is_legal_if_and_only_if_it_is_listed(position in any_position()) {
        let listed = position.legal_moves();
        for mv in all_moves() {
            prop_assert_eq!(position.is_legal(mv), listed.contains(&mv), "{} in {}", mv, position);
            prop_assert_eq!(position.play(mv).is_ok(), listed.contains(&mv));
        }
        let mut once = listed.to_vec();
        once.sort_unstable();
        once.dedup();
        prop_assert_eq!(once.len(), listed.len());
        prop_assert_eq!(listed.is_empty(), position.winner().is_some());
    }

    #[test]
    fn moves_and_keys_are_mirror_symmetric(position in any_position()) {
        let image = position.mirrored();
        prop_assert_eq!(image.mirrored(), position);
        let mut moves: Vec<Move> = position.legal_moves().iter().map(|mv| mv.mirrored()).collect();
        let mut mirrored = image.legal_moves().to_vec();
        moves.sort_unstable();
        mirrored.sort_unstable();
        prop_assert_eq!(moves, mirrored);
        for &mv in position.legal_moves().iter() {
            prop_assert_eq!(position.after(mv).mirrored(), image.after(mv.mirrored()));
        }
        for color in Color::BOTH {
            prop_assert_eq!(position.distance(color), image.distance(color));
        }
    }

    #[test]
    fn heat_and_evaluation_are_mirror_symmetric(position in any_position()) {
        let image = position.mirrored();
        let (heat, mirrored) = (cat_snapshot(&position), cat_snapshot(&image));
        for square in Square::all() {
            let (here, there) = (usize::from(square.index()), usize::from(square.mirrored().index()));
            prop_assert_eq!(heat.search[here], mirrored.search[there], "{} in {}", square, position);
            prop_assert_eq!(heat.display[here], mirrored.display[there], "{} in {}", square, position);
            prop_assert_eq!(heat.reachable[here], mirrored.reachable[there], "{} in {}", square, position);
        }
        prop_assert_eq!(heat.distance, mirrored.distance);
        prop_assert_eq!(heat.walls.len(), mirrored.walls.len());
        for wall in &heat.walls {
            let other = mirrored.walls.iter().find(|other| other.wall == wall.wall.mirrored());
            let found = other.map(|other| (other.heat_cm, other.shape_bonus_cm));
            prop_assert_eq!(found, Some((wall.heat_cm, wall.shape_bonus_cm)), "{} in {}", wall.wall, position);
        }
        let score = |position: &Position| HandMade.evaluate(&EvalInput::of(position));
        prop_assert_eq!(score(&position), score(&image));
    }

    #[test]
    fn the_canonical_key_folds_the_mirror_image_and_nothing_else(one in any_position(), other in any_position()) {
        let image = one.mirrored();
        prop_assert_eq!(one.canonical_key(), image.canonical_key());
        prop_assert!(one.is_canonical() || image.is_canonical());
        prop_assert_eq!(one.is_canonical() && image.is_canonical(), one.key() == image.key());
        let same = one == other || one == other.mirrored();
        prop_assert_eq!(one.canonical_key() == other.canonical_key(), same);
    }

    #[test]
    fn the_incremental_key_equals_a_fresh_one(moves in any_game()) {
        for position in replay_all(&Position::start(), &moves).unwrap() {
            let fresh: Position = position.to_string().parse().unwrap();
            prop_assert_eq!(fresh, position);
            prop_assert_eq!((fresh.key(), fresh.canonical_key()), (position.key(), position.canonical_key()));
        }
    }

    #[test]
    fn a_wall_never_shortens_a_way(position in any_position()) {
        for &mv in position.legal_moves().iter().filter(|mv| !mv.is_pawn()) {
            let after = position.after(mv);
            for color in Color::BOTH {
                let (before, now) = (position.distance(color).unwrap(), after.distance(color).unwrap());
                prop_assert!(now >= before, "{} in {}: {} became {}", mv, position, before, now);
            }
        }
    }

    #[test]
    fn legal_walls_leave_both_sides_a_way_and_illegal_ones_say_why(position in any_position()) {
        for wall in Wall::all() {
            match position.play(Move::wall(wall)) {
                Ok(after) => {
                    prop_assert!(after.has_wall(wall));
                    prop_assert_eq!(Color::BOTH.map(|color| after.distance(color).is_some()), [true, true]);
                    prop_assert_eq!(after.turn(), !position.turn());
                }
                Err(error) => prop_assert!(!error.to_string().contains('\n')),
            }
        }
    }

    #[test]
    fn a_game_survives_every_notation(moves in any_game()) {
        for notation in Notation::ALL {
            let text = format_moves(notation, &moves).unwrap();
            prop_assert_eq!(parse_moves(notation, &text), Ok(moves.clone()), "{}: {}", notation, text);
        }
        let state = qf::State::after(&moves).unwrap();
        prop_assert_eq!(qf::State::decode(&state.encode()), Ok(state));
    }

    #[test]
    fn moves_without_spaces_read_the_same(moves in any_game()) {
        for notation in [Notation::Man, Notation::Nw, Notation::Flip, Notation::Prefix] {
            let mut numbered = String::new();
            for (ply, word) in format_moves(notation, &moves).unwrap().split_whitespace().enumerate() {
                if ply % 2 == 0 {
                    numbered.push_str(&format!("{}.", ply / 2 + 1));
                }
                numbered.push_str(word);
            }
            prop_assert_eq!(parse_moves(notation, &numbered), Ok(moves.clone()), "{}", numbered);
        }
    }

    #[test]
    fn no_parser_panics(moves in near_moves(), position in near_positions(), bytes in any::<Vec<u8>>()) {
        let lossy = String::from_utf8_lossy(&bytes);
        for text in [moves.as_str(), position.as_str(), lossy.as_ref()] {
            for notation in Notation::ALL {
                if let Err(error) = parse_moves(notation, text) {
                    let message = error.to_string();
                    prop_assert!(!message.contains('\n') && message.len() < 300, "{}", message);
                }
                let _ = parse_games(notation, text);
            }
            let _ = (text.parse::<Move>(), text.parse::<Wall>(), text.parse::<Notation>());
            let _ = qf::State::decode(text);
            match text.parse::<Position>() {
                Ok(position) => prop_assert_eq!(position.to_string().parse(), Ok(position)),
                Err(error) => prop_assert!(!error.to_string().contains('\n')),
            }
        }
    }
}
