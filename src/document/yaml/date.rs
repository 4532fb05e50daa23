//! Dates and times as PyYAML recognises and checks them.
//!
//! Responsible for: the two expressions (the strict one that guesses the type, the looser one
//! that reads it) and the calendar. Not responsible for: other types ([`super::typing`]).

use super::typing::{Scan, digit, sign};

/// Year, month, day, and when there is a time: hour, minute, second, offset in minutes.
type Moment = (u32, u32, u32, Option<(u32, u32, u32, u32)>);

/// Read a timestamp. `strict` is the expression that guesses the type, which wants a plain date
/// in full; the one that reads a tagged timestamp does not.
fn timestamp(text: &str, strict: bool) -> Option<Moment> {
    let mut s = Scan::new(text);
    let year = s.digits(4, 4)?;
    s.byte(b'-').then_some(())?;
    let before_month = s.rest.len();
    let month = s.digits(1, 2)?;
    let month_full = before_month - s.rest.len() == 2;
    s.byte(b'-').then_some(())?;
    let before_day = s.rest.len();
    let day = s.digits(1, 2)?;
    let full = month_full && before_day - s.rest.len() == 2;
    if s.done() {
        return (full || !strict).then_some((year, month, day, None));
    }
    let blank = |b: u8| b == b' ' || b == b'\t';
    if !s.one(|b| b == b'T' || b == b't') && s.many(blank) == 0 {
        return None;
    }
    let hour = s.digits(1, 2)?;
    s.byte(b':').then_some(())?;
    let minute = s.digits(2, 2)?;
    s.byte(b':').then_some(())?;
    let second = s.digits(2, 2)?;
    if s.byte(b'.') {
        s.many(digit);
    }
    let mut zone = 0;
    if !s.done() {
        s.many(blank);
        if !s.byte(b'Z') {
            s.one(sign).then_some(())?;
            zone = s.digits(1, 2)? * 60;
            if s.byte(b':') {
                zone += s.digits(2, 2)?;
            }
        }
    }
    s.done()
        .then_some((year, month, day, Some((hour, minute, second, zone))))
}

/// Whether PyYAML takes a plain scalar for a date or a time.
pub(super) fn is_timestamp(text: &str) -> bool {
    text.len() >= 8 && text.as_bytes()[0].is_ascii_digit() && timestamp(text, true).is_some()
}

/// Why PyYAML refuses the text as a date or a time.
pub(super) fn timestamp_fault(text: &str) -> Option<&'static str> {
    let Some((year, month, day, time)) = timestamp(text, false) else {
        return Some("this is tagged as a date and is not one");
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 31,
    };
    if year == 0 || !(1..=12).contains(&month) || !(1..=days).contains(&day) {
        return Some("this looks like a date and no such day exists; quote it if it is text");
    }
    match time {
        Some((hour, minute, second, zone))
            if hour > 23 || minute > 59 || second > 59 || zone >= 24 * 60 =>
        {
            Some("this looks like a time and no such time exists; quote it if it is text")
        }
        _ => None,
    }
}
