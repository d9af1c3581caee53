//! Wall-clock time. If the clock shows a year outside -9999 to 9999, the functions return `None` or [`UNKNOWN`] instead
//! of an error.

use std::time::SystemTime;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// Text that replaces the time if the clock shows no valid time.
pub const UNKNOWN: &str = "at an unknown time";

/// Returns the present time; `None` if the clock shows a year that no date can have.
pub fn now() -> Option<Zoned> {
    zoned(SystemTime::now())
}

/// Returns the present local time in the `strftime` format `format`.
pub fn local(format: &str) -> String {
    now().map_or_else(|| UNKNOWN.to_owned(), |now| now.strftime(format).to_string())
}

/// Returns the present time in UTC, in the format of RFC 3339.
pub fn utc() -> String {
    now().map_or_else(|| UNKNOWN.to_owned(), |now| now.timestamp().to_string())
}

fn zoned(time: SystemTime) -> Option<Zoned> {
    Timestamp::try_from(time).ok().map(|time| time.to_zoned(TimeZone::system()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn years_that_no_date_has_give_no_time() {
        for seconds in [0, 1 << 30, 9_000_000_000_000, i64::MAX as u64] {
            for time in [
                SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds)),
                SystemTime::UNIX_EPOCH.checked_sub(Duration::from_secs(seconds)),
            ] {
                let Some(time) = time else { continue };
                assert_eq!(zoned(time).is_some(), seconds <= 1 << 30, "{seconds}");
            }
        }
        assert!(utc().parse::<Timestamp>().is_ok());
    }
}
