//! Numbers as PyYAML reads and writes them.
//!
//! Responsible for: whole numbers in base 2, 8, 10, 16 and 60 of any size, floating-point
//! numbers, and the forms in which both are written. Not responsible for: deciding that a text
//! is a number ([`super::typing`]).

use crate::document::Value;
use std::fmt::Write as _;

/// Python refuses to turn longer texts into numbers or back, so a file with one cannot be used.
const MAX_DIGITS: usize = 4_300;
const NO_INT: &str = "this is tagged or looks like a whole number and is not one";
const NO_FLOAT: &str = "this is tagged as a number and is not one";
const LONG: &str = "a whole number has more digits than Hermes can read";

/// A text as sign, base and digits.
struct Parts {
    negative: bool,
    base: u32,
    digits: String,
}

fn parts(text: &str) -> Result<Parts, &'static str> {
    let clean = text.replace('_', "");
    let (negative, body) = match clean.as_bytes().first() {
        Some(b'-') => (true, &clean[1..]),
        Some(b'+') => (false, &clean[1..]),
        Some(_) => (false, clean.as_str()),
        None => return Err(NO_INT),
    };
    if body == "0" {
        return Ok(Parts {
            negative: false,
            base: 10,
            digits: "0".into(),
        });
    }
    let (base, digits) = if let Some(rest) = body.strip_prefix("0b") {
        (2, rest)
    } else if let Some(rest) = body.strip_prefix("0x") {
        (16, rest)
    } else if body.starts_with('0') {
        (8, body)
    } else if body.contains(':') {
        (60, body)
    } else {
        (10, body.trim())
    };
    let fits = match base {
        2 => digits.bytes().all(|b| matches!(b, b'0' | b'1')),
        8 => digits.bytes().all(|b| matches!(b, b'0'..=b'7')),
        16 => digits.bytes().all(|b| b.is_ascii_hexdigit()),
        60 => digits
            .split(':')
            .map(str::trim)
            .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit())),
        _ => digits.bytes().all(|b| b.is_ascii_digit()),
    };
    if digits.is_empty() || !fits {
        return Err(NO_INT);
    }
    if digits.len() > MAX_DIGITS {
        return Err(LONG);
    }
    Ok(Parts {
        negative,
        base,
        digits: digits.to_owned(),
    })
}

/// Why PyYAML refuses the text as a whole number.
pub(super) fn int_fault(text: &str) -> Option<&'static str> {
    // What the type guess lets through in decimal is always readable.
    let plain = text.len() < MAX_DIGITS
        && matches!(text.as_bytes().first(), Some(b'1'..=b'9'))
        && text.bytes().all(|b| b.is_ascii_digit());
    if plain {
        return None;
    }
    parts(text).err()
}

/// The whole number that PyYAML reads.
pub(super) fn int(text: &str) -> Result<Value, &'static str> {
    let Parts {
        negative,
        base,
        digits,
    } = parts(text)?;
    let mut small = Some(0i128);
    let mut big = Big::default();
    let mut step = |base: u32, digit: u32| {
        small = small.and_then(|n| {
            n.checked_mul(i128::from(base))?
                .checked_add(i128::from(digit))
        });
        big.times_plus(base, digit);
    };
    if base == 60 {
        // Each part may have any number of digits, so the sum is built part by part.
        let mut total = Big::default();
        for part in digits.split(':') {
            let mut n = Big::default();
            for b in part.trim().bytes() {
                n.times_plus(10, u32::from(b - b'0'));
            }
            total.times_plus(60, 0);
            total.plus(&n);
        }
        return Ok(signed(negative, &total.decimal()));
    }
    for c in digits.chars() {
        step(base, c.to_digit(base).unwrap_or(0));
    }
    match small {
        Some(n) => Ok(Value::Int(if negative { -n } else { n })),
        None => Ok(signed(negative, &big.decimal())),
    }
}

/// Decimal digits as a value.
fn signed(negative: bool, digits: &str) -> Value {
    let text = if negative && digits != "0" {
        format!("-{digits}")
    } else {
        digits.to_owned()
    };
    text.parse().map_or(Value::BigInt(text), Value::Int)
}

/// A natural number of any size, least significant limb first, base 10^9.
#[derive(Default)]
struct Big(Vec<u32>);

const LIMB: u64 = 1_000_000_000;

impl Big {
    fn times_plus(&mut self, factor: u32, add: u32) {
        let mut carry = u64::from(add);
        for limb in &mut self.0 {
            let n = u64::from(*limb) * u64::from(factor) + carry;
            *limb = low(n);
            carry = n / LIMB;
        }
        if carry > 0 {
            self.0.push(low(carry));
        }
    }

    fn plus(&mut self, other: &Self) {
        let mut carry = 0;
        for i in 0..self.0.len().max(other.0.len()) {
            if i == self.0.len() {
                self.0.push(0);
            }
            let n = u64::from(self.0[i]) + u64::from(other.0.get(i).copied().unwrap_or(0)) + carry;
            self.0[i] = low(n);
            carry = n / LIMB;
        }
        if carry > 0 {
            self.0.push(low(carry));
        }
    }

    fn decimal(&self) -> String {
        let mut out = String::new();
        for (i, limb) in self.0.iter().rev().enumerate() {
            // Writing to a string cannot fail.
            let _ = if i == 0 {
                write!(out, "{limb}")
            } else {
                write!(out, "{limb:09}")
            };
        }
        if out.is_empty() { "0".into() } else { out }
    }
}

fn low(n: u64) -> u32 {
    u32::try_from(n % LIMB).unwrap_or(0)
}

/// Why PyYAML refuses the text as a floating-point number.
pub(super) fn float_fault(text: &str) -> Option<&'static str> {
    float(text).err()
}

/// The floating-point number that PyYAML reads.
pub(super) fn float(text: &str) -> Result<Value, &'static str> {
    let clean = text.replace('_', "").to_lowercase();
    let (sign, body) = match clean.as_bytes().first() {
        Some(b'-') => (-1.0, &clean[1..]),
        Some(b'+') => (1.0, &clean[1..]),
        Some(_) => (1.0, clean.as_str()),
        None => return Err(NO_FLOAT),
    };
    let number = match body {
        ".inf" => f64::INFINITY,
        ".nan" => return Ok(Value::Float(f64::NAN)),
        _ if body.contains(':') => {
            let mut base = 1.0;
            let mut sum = 0.0;
            for part in body.rsplit(':') {
                sum += one_float(part)? * base;
                base *= 60.0;
            }
            sum
        }
        _ => one_float(body)?,
    };
    Ok(Value::Float(sign * number))
}

fn one_float(text: &str) -> Result<f64, &'static str> {
    text.trim().parse().map_err(|_| NO_FLOAT)
}

/// A floating-point number in the form that PyYAML writes and reads back (`1.0e+16`, `.inf`).
pub(super) fn write_float(n: f64) -> String {
    if n.is_nan() {
        return ".nan".into();
    }
    if n.is_infinite() {
        return if n > 0.0 { ".inf" } else { "-.inf" }.into();
    }
    let text = format!("{n:?}");
    let Some((mantissa, exponent)) = text.split_once('e') else {
        return text;
    };
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with('-') { "" } else { "+" };
    format!("{mantissa}{point}e{sign}{exponent}")
}
