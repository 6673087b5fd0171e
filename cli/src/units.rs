//! Quantities on the command line: durations and sizes carry a unit, rates are whole numbers.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

/// A reader of whole numbers within a range, whose complaint says the range in words.
pub(crate) fn whole<T>(
    range: RangeInclusive<T>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + Display + Clone + Send + Sync + 'static,
{
    move |text| {
        text.trim()
            .parse()
            .ok()
            .filter(|number| range.contains(number))
            .ok_or_else(|| format!("a whole number from {} to {} is wanted", range.start(), range.end()))
    }
}

/// Reads `500us`, `500ms`, `1.5s`, `2m`, `2h`, `3d`.
///
/// # Errors
/// Says that the number or the unit is missing, or that it is too much.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    if text.trim_start().starts_with('-') {
        return Err("a duration cannot be negative".to_owned());
    }
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
    if text.trim_start().starts_with('-') {
        return Err("a size cannot be negative".to_owned());
    }
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

/// As [`size`], for a table, which cannot be empty.
///
/// # Errors
/// As of [`size`], and that it is nothing.
pub(crate) fn table_size(text: &str) -> Result<u64, String> {
    match size(text)? {
        0 => Err("a table has at least 1K".to_owned()),
        bytes => Ok(bytes),
    }
}

/// Whole units per second; 0 if no time has passed.
pub(crate) fn per_second(count: u64, elapsed: Duration) -> u64 {
    let nanoseconds = elapsed.as_nanos();
    let rate = (u128::from(count) * 1_000_000_000).checked_div(nanoseconds).unwrap_or(0);
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// A time for people: `12.3 s`, `5m 03s`, `3h 05m`, `2d 03h`.
pub(crate) fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{:.1} s", time.as_secs_f64().min(59.9)),
        60..3_600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{}h {:02}m", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{}d {:02}h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

/// `1 position`, `1,234 positions`: so many things whose name takes an s.
pub(crate) fn counted(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", grouped(number), if number == 1 { "" } else { "s" })
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

/// `999`, `12.3k`, `4.56M`, `78.9G`: a number in few columns.
pub(crate) fn short(number: u64) -> String {
    let (unit, letter) = match number {
        0..1_000 => return number.to_string(),
        1_000..1_000_000 => (1_000, 'k'),
        1_000_000..1_000_000_000 => (1_000_000, 'M'),
        _ => (1_000_000_000, 'G'),
    };
    let (whole, hundredths) = (number / unit, number % unit * 100 / unit);
    match whole {
        0..10 => format!("{whole}.{hundredths:02}{letter}"),
        10..100 => format!("{whole}.{}{letter}", hundredths / 10),
        _ => format!("{}{letter}", grouped(whole)),
    }
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
    fn whole_numbers_stay_in_their_range() {
        let depth = whole(1u8..=100);
        assert_eq!((depth("1"), depth("100")), (Ok(1), Ok(100)));
        for text in ["0", "101", "256", "99999999999999999999", "-1", "1.5", "x", "", "0x10"] {
            assert_eq!(depth(text), Err("a whole number from 1 to 100 is wanted".to_owned()), "{text}");
        }
        assert_eq!((table_size("1K"), table_size("0M").is_err()), (Ok(1_024), true));
    }

    #[test]
    fn spans_are_short() {
        let span = |seconds| span(Duration::from_millis(seconds));
        assert_eq!([span(0), span(12_340), span(59_990)], ["0.0 s", "12.3 s", "59.9 s"]);
        assert_eq!([span(303_000), span(11_100_000), span(183_600_000)], ["5m 03s", "3h 05m", "2d 03h"]);
    }

    #[test]
    fn short_numbers_have_three_digits() {
        assert_eq!([0, 999, 1_000, 12_345].map(short), ["0", "999", "1.00k", "12.3k"]);
        assert_eq!([999_999, 4_567_890, 1_234_000_000_000].map(short), ["999k", "4.56M", "1,234G"]);
        assert_eq!(short(u64::MAX), "18,446,744,073G");
    }

    #[test]
    fn rates_and_groups() {
        assert_eq!(per_second(3_000, Duration::from_millis(1_500)), 2_000);
        assert_eq!(per_second(3_000, Duration::ZERO), 0);
        assert_eq!(
            [grouped(0), grouped(999), grouped(1_000), grouped(1_234_567)],
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(
            [0, 1, 2_000].map(|number| counted(number, "worker")),
            ["0 workers", "1 worker", "2,000 workers"]
        );
    }
}
