//! `corridor.v1.Positions`.

use corridor_proto::convert::{
    ConvertError, color_to_wire, game_from_wire, notation_from_wire, position_from_spec,
};
use corridor_proto::v1;
use corridor_shared::board::{Color, Square};
use corridor_shared::cat::{WallAttention, cat_snapshot};
use corridor_shared::notation::format_moves;
use tonic::{Request, Response, Status};

use super::malformed;

/// Questions about one position.
#[derive(Copy, Clone, Debug, Default)]
pub struct PositionsService;

fn squares(path: &[Square]) -> Vec<String> {
    path.iter().map(ToString::to_string).collect()
}

fn wall_heat(wall: &WallAttention) -> v1::WallHeat {
    v1::WallHeat {
        wall: wall.wall.to_string(),
        heat_cm: wall.heat_cm.into(),
        shape_bonus_cm: wall.shape_bonus_cm.into(),
        searched: wall.reason.is_searched(),
        reason: wall.reason.name().to_owned(),
    }
}

#[tonic::async_trait]
impl v1::positions_server::Positions for PositionsService {
    async fn legal_moves(
        &self,
        request: Request<v1::LegalMovesRequest>,
    ) -> Result<Response<v1::LegalMovesResponse>, Status> {
        let position = position_from_spec(request.get_ref().position.as_ref(), "position")
            .map_err(|error| malformed(&error))?;
        let moves = position.legal_moves();
        let named =
            |pawn: bool| moves.iter().filter(|mv| mv.is_pawn() == pawn).map(ToString::to_string).collect();
        Ok(Response::new(v1::LegalMovesResponse {
            position: position.to_string(),
            pawn_moves: named(true),
            walls: named(false),
            legal_count: u32::try_from(moves.len()).unwrap_or(u32::MAX),
            turn: color_to_wire(position.turn()).into(),
            winner: position.winner().map(|winner| color_to_wire(winner).into()),
        }))
    }

    async fn heat(&self, request: Request<v1::HeatRequest>) -> Result<Response<v1::HeatResponse>, Status> {
        let position = position_from_spec(request.get_ref().position.as_ref(), "position")
            .map_err(|error| malformed(&error))?;
        let heat = cat_snapshot(&position);
        let [white, black] = [Color::White.index(), Color::Black.index()];
        Ok(Response::new(v1::HeatResponse {
            position: position.to_string(),
            white_distance: heat.distance[white].into(),
            black_distance: heat.distance[black].into(),
            white_witness: squares(&heat.witness[white]),
            black_witness: squares(&heat.witness[black]),
            cat_search: heat.search.iter().copied().map(u32::from).collect(),
            cat_display: heat.display.iter().copied().map(u32::from).collect(),
            walls: heat.walls.iter().map(wall_heat).collect(),
        }))
    }

    async fn convert(
        &self,
        request: Request<v1::ConvertRequest>,
    ) -> Result<Response<v1::ConvertResponse>, Status> {
        let request = request.get_ref();
        let to = notation_from_wire(request.to, "to").map_err(|error| malformed(&error))?;
        let text = request.moves.clone().unwrap_or_default();
        let (moves, _) = game_from_wire(&text, "moves").map_err(|error| malformed(&error))?;
        let moves =
            format_moves(to, &moves).map_err(|error| malformed(&ConvertError::new("moves", error)))?;
        Ok(Response::new(v1::ConvertResponse { moves }))
    }
}
