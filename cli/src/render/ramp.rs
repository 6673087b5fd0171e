//! The fixed colours of heat: the same cm has the same colour in every picture, whatever the position.

use corridor_shared::cat::{CAT_COLD_CM, CAT_DISPLAY_CEILING_CM, CAT_HOT_CM};

/// Where the ramp stands at [`CAT_HOT_CM`].
const HOT_AT: f64 = 0.65;

/// The colours on the way from yellow to red, with their places.
const STOPS: [(f64, [f64; 3]); 4] = [
    (0.0, [255.0, 240.0, 158.0]),
    (0.35, [255.0, 205.0, 87.0]),
    (HOT_AT, [250.0, 142.0, 60.0]),
    (1.0, [222.0, 54.0, 48.0]),
];

/// A colour in 24 bits.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rgb(pub(crate) u8, pub(crate) u8, pub(crate) u8);

impl Rgb {
    /// `#rrggbb`.
    pub(crate) fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// The colour of a square with so much heat; none below [`CAT_COLD_CM`].
pub(crate) fn tint(heat_cm: u16) -> Option<Rgb> {
    place(heat_cm).map(colour_at)
}

/// The place on the ramp, 0..=1, linear between the fixed anchors.
fn place(heat_cm: u16) -> Option<f64> {
    let [heat, cold, hot, ceiling] =
        [heat_cm.min(CAT_DISPLAY_CEILING_CM), CAT_COLD_CM, CAT_HOT_CM, CAT_DISPLAY_CEILING_CM].map(f64::from);
    if heat < cold {
        None
    } else if heat < hot {
        Some(HOT_AT * (heat - cold) / (hot - cold))
    } else {
        Some(HOT_AT + (1.0 - HOT_AT) * (heat - hot) / (ceiling - hot))
    }
}

fn colour_at(place: f64) -> Rgb {
    let upper = STOPS.iter().position(|&(at, _)| at >= place).unwrap_or(STOPS.len() - 1).max(1);
    let ((from, low), (to, high)) = (STOPS[upper - 1], STOPS[upper]);
    let share = ((place - from) / (to - from)).clamp(0.0, 1.0);
    let channel = |index: usize| channel(low[index] + share * (high[index] - low[index]));
    Rgb(channel(0), channel(1), channel(2))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=255 first")]
fn channel(value: f64) -> u8 {
    value.round().clamp(0.0, 255.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_fixed() {
        assert_eq!((place(0), place(59)), (None, None));
        assert_eq!((place(60), place(160)), (Some(0.0), Some(0.65)));
        assert_eq!((place(240), place(480)), (Some(1.0), Some(1.0)));
        assert!((place(110).unwrap() - 0.325).abs() < 1e-9);
        assert!((place(200).unwrap() - 0.825).abs() < 1e-9);
    }

    #[test]
    fn yellow_to_red() {
        assert_eq!(tint(60).unwrap().hex(), "#fff09e");
        assert_eq!(tint(160).unwrap().hex(), "#fa8e3c");
        assert_eq!(tint(240).unwrap().hex(), "#de3630");
        assert_eq!(tint(u16::MAX), tint(240));
        // Hotter never looks yellower.
        let greens: Vec<u8> = (60..=240).map(|heat| tint(heat).unwrap().1).collect();
        assert!(greens.is_sorted_by(|a, b| a >= b));
    }
}
