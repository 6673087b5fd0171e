//! The page of `analyze --html`: one file without anything from outside, light or dark as the reader's system is.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use corridor_shared::Position;
use corridor_shared::cat::CatSnapshot;
use corridor_shared::job::{Line, MoveHeat, StoppedBy};
use corridor_shared::score::WhiteScore;

use super::svg::{self, Picture};
use super::{escape, in_plies, ramp, score};
use crate::units;

/// A finished analysis as a page shows it.
#[derive(Clone, Debug)]
pub(crate) struct AnalysisReport {
    pub(crate) position: Position,
    pub(crate) snapshot: CatSnapshot,
    /// Whether pruning was off.
    pub(crate) all_searched: bool,
    /// Every searched root move, best first; empty if the game has ended.
    pub(crate) lines: Vec<Line>,
    /// The root moves that were not searched.
    pub(crate) pruned: Vec<MoveHeat>,
    /// Plies of the last completed iteration.
    pub(crate) depth: u8,
    pub(crate) nodes: u64,
    pub(crate) elapsed: Duration,
    /// Workers that took part, at most at once.
    pub(crate) workers: u32,
    pub(crate) stopped_by: StoppedBy,
}

impl AnalysisReport {
    /// The board with heat and the best move, as an SVG document.
    pub(crate) fn svg(&self) -> String {
        svg::draw(&Picture {
            position: &self.position,
            snapshot: Some(&self.snapshot),
            all_searched: self.all_searched,
            best_move: self.lines.first().map(|line| line.mv),
        })
    }

    /// The whole page.
    pub(crate) fn html(&self) -> String {
        let mut page = String::new();
        // Writing to a string cannot fail.
        let _ = write!(
            page,
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
             <meta name=\"color-scheme\" content=\"light dark\">\
             <title>Corridor analysis</title><style>{STYLE}</style></head><body><main>\
             <header><h1>Corridor analysis</h1><code>{}</code></header>\
             <div class=\"top\">{}<figure>{}</figure><section>{}</section></div>{}</main></body></html>\n",
            escape(&self.position.to_string()),
            self.facts(),
            self.svg(),
            self.lines_table(),
            self.pruned_list(),
        );
        page
    }

    fn facts(&self) -> String {
        let best = self.lines.first();
        let verdict = match (best, self.position.winner()) {
            (_, Some(winner)) => format!("{winner} has won"),
            (Some(line), None) => escape(&in_plies(line.score_white)),
            (None, None) => "nothing searched".to_owned(),
        };
        let per_second = units::per_second(self.nodes, self.elapsed);
        let facts = [
            ("best move", best.map_or_else(|| "\u{2013}".to_owned(), |line| line.mv.to_string())),
            ("score, White's view", verdict),
            ("depth", self.depth.to_string()),
            ("nodes", units::grouped(self.nodes)),
            ("time", format!("{:.3} s", self.elapsed.as_secs_f64())),
            ("nodes/s", units::grouped(per_second)),
            ("workers", self.workers.to_string()),
            match self.position.winner() {
                Some(_) => ("ended", "the game is over".to_owned()),
                None => ("stopped by", self.stopped_by.name().to_owned()),
            },
        ];
        let mut html = "<dl>".to_owned();
        for (name, value) in facts {
            let _ = write!(html, "<div><dt>{name}</dt><dd>{value}</dd></div>");
        }
        html.push_str("</dl>");
        html
    }

    fn lines_table(&self) -> String {
        if self.lines.is_empty() {
            let why = if self.position.winner().is_some() {
                "The game is over: there is no move to search."
            } else {
                "No depth was completed."
            };
            return format!("<p>{why}</p>");
        }
        let mut html = "<div class=\"scroll\"><table><thead><tr><th>move</th><th>score</th><th>bound</th>\
                        <th>depth</th><th>nodes</th><th>heat</th><th>principal variation</th></tr></thead><tbody>"
            .to_owned();
        for line in &self.lines {
            let pv: Vec<String> = line.pv.iter().map(ToString::to_string).collect();
            let _ = write!(
                html,
                "<tr><th>{}</th><td class=\"{}\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"pv\">{}</td></tr>",
                line.mv,
                leaning(line.score_white),
                escape(&score(line)),
                line.bound.name(),
                line.depth,
                units::grouped(line.nodes),
                heat(line.heat_cm),
                pv.join(" "),
            );
        }
        html.push_str("</tbody></table></div>");
        html.push_str(
            "<p class=\"quiet\">Scores are in squares from White's view, wins in plies. Heat is in cm, 100 to a square. \
             Nodes are those of the line's last depth.</p>",
        );
        html
    }

    /// The moves that were not searched, by reason.
    fn pruned_list(&self) -> String {
        if self.pruned.is_empty() && self.lines.is_empty() {
            return String::new();
        }
        if self.pruned.is_empty() {
            return "<p class=\"quiet\">Every legal move was searched.</p>".to_owned();
        }
        let mut html =
            format!("<details open><summary>{} moves were not searched</summary>", self.pruned.len());
        let mut by_reason: BTreeMap<&str, Vec<&MoveHeat>> = BTreeMap::new();
        for pruned in &self.pruned {
            by_reason.entry(&pruned.reason).or_default().push(pruned);
        }
        for (reason, mut moves) in by_reason {
            moves.sort_by_key(|pruned| std::cmp::Reverse(pruned.heat_cm));
            let _ = write!(html, "<h2><code>{}</code> {}</h2><ul>", escape(reason), moves.len());
            for pruned in moves {
                let _ = write!(html, "<li>{} {}</li>", pruned.mv, heat(pruned.heat_cm));
            }
            html.push_str("</ul>");
        }
        html.push_str("</details>");
        html
    }
}

/// Which side a score favours, as a class.
fn leaning(score: WhiteScore) -> &'static str {
    match score {
        WhiteScore::WhiteWinsIn(_) => "plus",
        WhiteScore::BlackWinsIn(_) => "minus",
        WhiteScore::Cm(cm) if cm > 0 => "plus",
        WhiteScore::Cm(cm) if cm < 0 => "minus",
        WhiteScore::Cm(_) => "even",
    }
}

/// A heat in its colour.
fn heat(heat_cm: u16) -> String {
    match ramp::tint(heat_cm) {
        Some(tint) => format!("<b class=\"heat\" style=\"background:{}\">{heat_cm}</b>", tint.hex()),
        None => format!("<b class=\"heat cool\">{heat_cm}</b>"),
    }
}

const STYLE: &str = "\
:root{--page:#f4f0e8;--card:#fbf9f4;--ink:#2b2722;--faint:#857d72;--rule:#e2d9c8;--plus:#2b6e3f;--minus:#a3382c}\
@media (prefers-color-scheme:dark){:root{--page:#0f1115;--card:#16181d;--ink:#e9e6df;--faint:#8b8f98;--rule:#2d3038;\
--plus:#7fd89b;--minus:#ff9b8f}}\
*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--ink);\
font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}\
main{max-width:1320px;margin:0 auto;padding:28px 24px 48px}\
h1{font-size:24px;margin:0 0 2px;letter-spacing:-.01em}header{margin-bottom:20px}header code{color:var(--faint);font-size:13px}\
.top{display:grid;grid-template:'board facts' auto 'board lines' 1fr/minmax(320px,586px) minmax(0,1fr);gap:16px 24px;\
align-items:start}dl{grid-area:facts}section{grid-area:lines}\
@media (max-width:1150px){.top{grid-template:'facts' auto 'board' auto 'lines' auto/minmax(0,1fr)}}\
figure{grid-area:board;margin:0 auto;width:100%;max-width:586px}figure svg{display:block;width:100%;height:auto}\
section{min-width:0}\
dl{display:grid;grid-template-columns:repeat(4,minmax(0,1fr));gap:1px;margin:0;background:var(--rule);\
border:1px solid var(--rule);border-radius:10px;overflow:hidden}\
dl div{background:var(--card);padding:10px 14px}dt{color:var(--faint);font-size:12px}\
dd{margin:0;font-size:17px;font-weight:600;font-variant-numeric:tabular-nums}@media (max-width:620px){dl{grid-template-columns:repeat(2,minmax(0,1fr))}}\
.scroll{overflow-x:auto;background:var(--card);border:1px solid var(--rule);border-radius:10px}\
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:14px}\
th,td{padding:5px 7px;text-align:right;white-space:nowrap}thead th{color:var(--faint);font-weight:400;font-size:12px;border-bottom:1px solid var(--rule)}\
tbody tr+tr>*{border-top:1px solid var(--rule)}tbody tr:first-child{font-weight:600}\
th:first-child{text-align:left}td.pv,thead th:last-child{text-align:left;width:100%}td.pv{color:var(--faint);font-weight:400;white-space:normal;min-width:6em}\
th:first-child{padding-left:14px}@media (max-width:620px){th:nth-child(3),td:nth-child(3){display:none}th,td{padding:5px}}\
.plus{color:var(--plus)}.minus{color:var(--minus)}\
.heat{display:inline-block;min-width:38px;padding:0 6px;border-radius:5px;font-weight:500;font-size:12.5px;text-align:right;\
color:#3a1d05}.heat.cool{color:var(--faint)}\
details{margin-top:24px;background:var(--card);border:1px solid var(--rule);border-radius:10px;padding:12px 18px}\
summary{cursor:pointer;font-weight:600}h2{font-size:14px;font-weight:400;color:var(--faint);margin:12px 0 6px}\
ul{list-style:none;margin:0;padding:0;display:flex;flex-wrap:wrap;gap:4px 14px;font-variant-numeric:tabular-nums;font-size:14px}\
li .heat{min-width:0}.quiet{color:var(--faint);font-size:13px}\
@media print{.scroll{overflow:visible}main{padding:0;max-width:none}tr{break-inside:avoid}}";

#[cfg(test)]
mod tests {
    use corridor_shared::cat::{Verdict, cat_snapshot, collect_search_moves};
    use corridor_shared::notation::{Notation, parse_moves, replay};

    use corridor_shared::score::Bound;

    use super::*;

    fn report() -> AnalysisReport {
        let moves = parse_moves(Notation::Man, "e2 e8 e3 e7 e4 e6 e3v e6v g6h a2h b1v").unwrap();
        let position = replay(&Position::start(), &moves).unwrap();
        let searched = collect_search_moves(&position);
        let lines = (0..)
            .zip(&searched.kept)
            .map(|(index, verdict)| Line {
                mv: verdict.mv,
                score_white: match index {
                    0 => WhiteScore::BlackWinsIn(16),
                    _ => WhiteScore::Cm(index * 37 - 300),
                },
                bound: if index == 0 { Bound::Exact } else { Bound::Lower },
                depth: 8,
                pv: vec![verdict.mv; 6],
                nodes: 12_345,
                heat_cm: verdict.heat_cm,
            })
            .collect();
        let pruned = |verdict: &Verdict| MoveHeat {
            mv: verdict.mv,
            heat_cm: verdict.heat_cm,
            reason: format!("<{}>", verdict.reason.name()),
        };
        let pruned = searched.pruned.iter().map(pruned).collect();
        AnalysisReport {
            snapshot: cat_snapshot(&position),
            all_searched: false,
            position,
            lines,
            pruned,
            depth: 8,
            nodes: 1_234_567,
            elapsed: Duration::from_millis(1_002),
            workers: 2,
            stopped_by: StoppedBy::Depth,
        }
    }

    #[test]
    fn the_page_is_whole_escaped_and_alone() {
        let report = report();
        let page = report.html();
        if let Some(file) = std::env::var_os("CORRIDOR_TEST_PAGE") {
            std::fs::write(file, &page).unwrap();
        }
        for shown in [
            "Black wins in 16",
            "1,234,567",
            "1.002 s",
            "<dd>depth</dd>",
            "&lt;dead_zone&gt;",
            "76 moves were not searched",
        ] {
            assert!(page.contains(shown), "{shown}");
        }
        assert!(!page.contains("<dead_zone>"));
        // The only address is the name of the SVG language, which nobody fetches.
        assert_eq!(page.matches("://").count(), 1);
        for outside in ["<script", "<link", "@import", "url(", "src="] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert_eq!(page.matches("<tr>").count(), report.lines.len() + 1);
        assert_eq!(page.matches("<li>").count(), report.pruned.len());
    }

    #[test]
    fn a_finished_game_has_a_page_too() {
        let mut report = report();
        let text = "e2 d9 e3 e9 e4 d9 e5 e9 e6 d9 e7 e9 e8 d9 e9";
        report.position = replay(&Position::start(), &parse_moves(Notation::Man, text).unwrap()).unwrap();
        report.snapshot = cat_snapshot(&report.position);
        report.lines.clear();
        report.pruned.clear();
        report.stopped_by = StoppedBy::Proof;
        let page = report.html();
        for odd in ["Every legal move", "stopped by", "proof", "No depth", "best move</title>"] {
            assert!(!page.contains(odd), "{odd}");
        }
        assert!(page.contains("White has won") && page.contains("The game is over: there is no move"));
    }

    #[test]
    fn without_pruning_every_wall_is_searched() {
        let mut report = report();
        report.pruned.clear();
        report.all_searched = true;
        let page = report.html();
        assert!(page.contains("Every legal move was searched.") && page.contains("searched (all)"));
        for odd in ["skipped", "(cold)", "(witness)", "(dead_zone)", "class=\"skip\""] {
            assert!(!page.contains(odd), "{odd}");
        }
    }

    #[test]
    fn the_legend_explains_the_best_move() {
        assert!(report().svg().contains(">best move</text>"));
        let mut report = report();
        report.lines.clear();
        assert!(!report.svg().contains(">best move</text>"));
    }
}
