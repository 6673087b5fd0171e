//! Quantities on the command line: durations and sizes carry a unit, rates are whole numbers.

use std::time::Duration;

/// Reads `500us`, `500ms`, `1.5s`, `2m`, `2h`, `3d`.
///
/// # Errors
/// Says that the number or the unit is missing, or that it is too much.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = number_and_unit(text);
    let seconds_per_unit = match unit {
        "us" => 0.000_001,
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        "d" => 86_400.0,
        "" => return Err("a duration carries a unit: us, ms, s, m, h or d".to_owned()),
        _ => return Err("the units of a duration are us, ms, s, m, h and d".to_owned()),
    };
    let number: f64 = number.parse().map_err(|_| "a duration starts with a number".to_owned())?;
    Duration::try_from_secs_f64(number * seconds_per_unit).map_err(|_| "this duration is too long".to_owned())
}

/// Reads `512K`, `64M`, `2G`, also `64MiB` or `64MB`, as bytes; units are powers of 1,024.
///
/// # Errors
/// Says that the number or the unit is missing, or that it is too much.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let (number, unit) = number_and_unit(text);
    let shift = match unit.to_ascii_uppercase().as_str() {
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        "" => return Err("a size carries a unit: K, M or G".to_owned()),
        _ => return Err("the units of a size are K, M and G".to_owned()),
    };
    let number: u64 = number.parse().map_err(|_| "a size is a whole number and a unit".to_owned())?;
    number.checked_mul(1 << shift).ok_or_else(|| "this size is too large".to_owned())
}

/// Whole units per second; 0 if no time has passed.
pub(crate) fn per_second(count: u64, elapsed: Duration) -> u64 {
    let nanoseconds = elapsed.as_nanos();
    let rate = (u128::from(count) * 1_000_000_000).checked_div(nanoseconds).unwrap_or(0);
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

fn number_and_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_need_a_unit() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7200)));
        assert_eq!(duration("500us"), Ok(Duration::from_micros(500)));
        for text in ["30", "", "s", "-1s", "1e3s", "1y", "1.2.3s", "99999999999999999999h", "NaNs"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_need_a_unit() {
        assert_eq!(size("64M"), Ok(64 << 20));
        assert_eq!(size("1GiB"), Ok(1 << 30));
        assert_eq!(size("512 k"), Ok(512 << 10));
        for text in ["64", "", "M", "1.5M", "-1M", "1T", "99999999999999999999M", "99999999999999G"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rates_and_groups() {
        assert_eq!(per_second(3_000, Duration::from_millis(1_500)), 2_000);
        assert_eq!(per_second(3_000, Duration::ZERO), 0);
        assert_eq!(
            [grouped(0), grouped(999), grouped(1_000), grouped(1_234_567)],
            ["0", "999", "1,000", "1,234,567"]
        );
    }
}
