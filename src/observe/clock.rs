//! The time of day, which may be wrong: a clock that shows a year outside -9999 to 9999 gives no time instead of an error.

use std::time::SystemTime;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// What stands for a time that the clock does not give.
pub const UNKNOWN: &str = "at an unknown time";

/// The present time; none where the clock shows no year that a date can have.
pub fn now() -> Option<Zoned> {
    zoned(SystemTime::now())
}

/// The present time in the format of `strftime`.
pub fn local(format: &str) -> String {
    now().map_or_else(|| UNKNOWN.to_owned(), |now| now.strftime(format).to_string())
}

/// The present time in UTC, as RFC 3339 writes it.
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
