//! A position with everything that a board needs to show it and to play on.

use std::collections::BTreeMap;

use corridor_shared::board::{Color, Move, Position, Square, Wall};
use corridor_shared::cat::{CatSnapshot, build_corridor_attention, cat_snapshot};
use serde::Serialize;

use super::requests::Game;
use super::{Text, texts};

/// A position as a board shows it.
#[derive(Debug, Serialize)]
pub struct PositionView {
    position: String,
    start: String,
    moves: Vec<Text>,
    ply: usize,
    turn: &'static str,
    winner: Option<&'static str>,
    white: SideView,
    black: SideView,
    walls: Vec<String>,
    last_move: Option<Text>,
    pawn_moves: Vec<Text>,
    legal_walls: Vec<Text>,
    /// Every other slot, and why nothing can be put there.
    illegal_walls: BTreeMap<String, String>,
    cat: CatView,
}

#[derive(Debug, Serialize)]
struct SideView {
    pawn: String,
    walls_left: u8,
    /// Steps to the goal row.
    distance: u8,
}

#[derive(Debug, Serialize)]
struct CatView {
    white: Vec<u16>,
    black: Vec<u16>,
    display: Vec<u16>,
    search: Vec<u16>,
    reachable: Vec<bool>,
    witness: WitnessView,
    walls: BTreeMap<String, WallView>,
}

#[derive(Debug, Serialize)]
struct WitnessView {
    white: Vec<String>,
    black: Vec<String>,
}

#[derive(Debug, Serialize)]
struct WallView {
    heat_cm: u16,
    shape_bonus_cm: u16,
    searched: bool,
    reason: &'static str,
}

fn squares(path: &[Square]) -> Vec<String> {
    path.iter().map(ToString::to_string).collect()
}

impl CatView {
    fn new(position: &Position, heat: &CatSnapshot) -> Self {
        let [white, black] = build_corridor_attention(position).players;
        let wall = |it: &corridor_shared::cat::WallAttention| {
            let view = WallView {
                heat_cm: it.heat_cm,
                shape_bonus_cm: it.shape_bonus_cm,
                searched: it.reason.is_searched(),
                reason: it.reason.name(),
            };
            (it.wall.to_string(), view)
        };
        let [white_path, black_path] = Color::BOTH.map(|color| squares(&heat.witness[color.index()]));
        Self {
            white: white.to_vec(),
            black: black.to_vec(),
            display: heat.display.to_vec(),
            search: heat.search.to_vec(),
            reachable: heat.reachable.to_vec(),
            witness: WitnessView { white: white_path, black: black_path },
            walls: heat.walls.iter().map(wall).collect(),
        }
    }
}

impl From<&Game> for PositionView {
    fn from(game: &Game) -> Self {
        let position = &game.position;
        let heat = cat_snapshot(position);
        let side = |color: Color| SideView {
            pawn: position.pawn(color).to_string(),
            walls_left: position.walls_in_hand(color),
            distance: heat.distance[color.index()],
        };
        let legal = position.legal_moves();
        let those = |pawn: bool| legal.iter().copied().filter(|mv| mv.is_pawn() == pawn).map(Text).collect();
        let refused = |wall: Wall| {
            let fault = position.play(Move::wall(wall)).err()?;
            Some((wall.to_string(), fault.to_string()))
        };
        Self {
            position: position.to_string(),
            start: game.start.to_string(),
            moves: texts(&game.moves),
            ply: game.moves.len(),
            turn: position.turn().name(),
            winner: position.winner().map(Color::name),
            white: side(Color::White),
            black: side(Color::Black),
            walls: position.walls().map(|wall| wall.to_string()).collect(),
            last_move: game.moves.last().copied().map(Text),
            pawn_moves: those(true),
            legal_walls: those(false),
            illegal_walls: Wall::all().filter_map(refused).collect(),
            cat: CatView::new(position, &heat),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::requests::PositionQuery;
    use super::*;

    fn view(moves: &str) -> PositionView {
        let query = PositionQuery { moves: Some(moves.to_owned()), ..PositionQuery::default() };
        PositionView::from(&query.game().expect("legal"))
    }

    #[test]
    fn every_slot_is_legal_or_says_why_not() {
        let view = view("e2 e8 e3h d5v");
        assert_eq!(view.legal_walls.len() + view.illegal_walls.len(), 128);
        assert_eq!(view.illegal_walls["e3v"], "wall e3v crosses e3h");
        assert_eq!(view.illegal_walls["f3h"], "wall f3h overlaps e3h");
        assert_eq!((view.ply, view.turn, &*view.walls.join(" ")), (4, "white", "e3h d5v"));
        assert_eq!((&*view.white.pawn, view.white.walls_left, view.black.walls_left), ("e2", 9, 9));
        let over = self::view("e2 e8 e3 e7 e4 e6 d4 e5 d5 e4 d6 e3 d7 e2 d8 e1");
        assert_eq!((over.winner, over.pawn_moves.len(), over.illegal_walls.len()), (Some("black"), 0, 128));
    }

    #[test]
    fn heat_is_the_players_own_and_both() {
        let view = view("e2 e8");
        let CatView { white, black, display, search, .. } = &view.cat;
        for square in 0..81 {
            assert_eq!(display[square], white[square].max(black[square]));
            assert_eq!(search[square], white[square] + black[square]);
        }
        assert_eq!((view.white.distance, view.black.distance), (7, 7));
        assert_eq!(view.cat.witness.white.len(), 8);
        assert_eq!(view.cat.walls.len(), view.legal_walls.len());
    }
}
