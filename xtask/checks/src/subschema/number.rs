//! Numbers as exact fractions, and the sets of numbers that a schema allows.

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use serde_json::Number;

/// Returns the exact value of a JSON number. `None` if the exponent would need too much memory.
pub(crate) fn exact(number: &Number) -> Option<BigRational> {
    const MAX_DIGITS: u32 = 400;
    let text = number.to_string();
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: BigInt = format!("{whole}{fraction}").parse().ok()?;
    let exponent = exponent.parse::<i64>().ok()? - i64::try_from(fraction.len()).ok()?;
    let size = u32::try_from(exponent.unsigned_abs()).ok().filter(|size| *size <= MAX_DIGITS)?;
    let power = BigInt::from(10).pow(size);
    Some(if exponent < 0 { BigRational::new(digits, power) } else { BigRational::from(digits * power) })
}

/// One end of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) value: BigRational,
    /// Whether the value itself is in the range.
    pub(crate) inclusive: bool,
}

/// Numbers between two ends that are multiples of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) low: Option<End>,
    pub(crate) high: Option<End>,
    /// 1 for `type: integer`.
    pub(crate) step: Option<BigRational>,
}

impl Range {
    /// All integers.
    pub(crate) fn integers() -> Self {
        Self { step: Some(BigRational::one()), ..Self::default() }
    }

    /// All integers of a two's complement representation.
    pub(crate) fn of_bits(bits: u32) -> Self {
        let half = BigRational::from(BigInt::from(1) << (bits - 1));
        let end = |value| Some(End { value, inclusive: true });
        Self { low: end(-half.clone()), high: end(half - BigRational::one()), ..Self::integers() }
    }

    /// The numbers in both.
    pub(crate) fn and(&self, other: &Self) -> Self {
        let low = stricter(&self.low, &other.low, |one, other| one > other);
        let high = stricter(&self.high, &other.high, |one, other| one < other);
        let step = match (&self.step, &other.step) {
            (Some(one), Some(other)) => Some(common_multiple(one, other)),
            (one, other) => one.as_ref().or(other.as_ref()).cloned(),
        };
        Self { low, high, step }.rounded()
    }

    /// Returns the range with its ends moved inwards to multiples of the step.
    pub(crate) fn rounded(mut self) -> Self {
        let Some(step) = self.step.as_ref().filter(|step| step.is_positive()) else { return self };
        for (end, up) in [(&mut self.low, true), (&mut self.high, false)] {
            let Some(end) = end else { continue };
            // Most ends are integers, and need no division of fractions.
            if step.is_one() && end.inclusive && end.value.is_integer() {
                continue;
            }
            let steps = &end.value / step;
            let whole = if up { steps.ceil() } else { steps.floor() };
            let exact = whole == steps;
            end.value = whole * step;
            if exact && !end.inclusive {
                end.value += if up { step.clone() } else { -step.clone() };
            }
            end.inclusive = true;
        }
        self
    }

    /// Whether no number is in the range.
    pub(crate) fn is_empty(&self) -> bool {
        match (&self.low, &self.high) {
            (Some(low), Some(high)) => {
                low.value > high.value || (low.value == high.value && !(low.inclusive && high.inclusive))
            }
            _ => false,
        }
    }

    /// Whether the number is in the range.
    pub(crate) fn contains(&self, number: &BigRational) -> bool {
        let point = Some(End { value: number.clone(), inclusive: true });
        let point = Self { low: point.clone(), high: point, step: None };
        self.step.as_ref().is_none_or(|step| is_multiple(number, step))
            && Self { step: None, ..self.clone() }.includes(&point)
    }

    /// Whether all numbers of the other range are in this one.
    pub(crate) fn includes(&self, other: &Self) -> bool {
        let reaches = |wide: &Option<End>,
                       narrow: &Option<End>,
                       within: fn(&BigRational, &BigRational) -> bool| {
            match (wide, narrow) {
                (None, _) => true,
                (Some(_), None) => false,
                (Some(wide), Some(narrow)) => {
                    within(&narrow.value, &wide.value)
                        || (narrow.value == wide.value && (wide.inclusive || !narrow.inclusive))
                }
            }
        };
        let steps = match (&self.step, &other.step) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(wide), Some(narrow)) => is_multiple(narrow, wide),
        };
        steps
            && reaches(&self.low, &other.low, |narrow, wide| narrow > wide)
            && reaches(&self.high, &other.high, |narrow, wide| narrow < wide)
    }

    /// Returns all numbers of the range if they are integers and at most `most`.
    pub(crate) fn listed(&self, most: usize) -> Option<Vec<Number>> {
        let (low, high) = (self.low.as_ref()?, self.high.as_ref()?);
        let one = BigRational::one();
        let step = match &self.step {
            _ if low.value == high.value && low.value.is_integer() => &one,
            step => step.as_ref().filter(|step| step.is_integer())?,
        };
        let count = ((&high.value - &low.value) / step).to_integer();
        if count >= BigInt::from(most) {
            return None;
        }
        let mut numbers = Vec::new();
        let mut number = low.value.clone();
        while number <= high.value {
            numbers.push(Number::from(i64::try_from(number.to_integer()).ok()?));
            number += step;
        }
        Some(numbers)
    }
}

/// Whether a number is a multiple of another.
fn is_multiple(number: &BigRational, of: &BigRational) -> bool {
    of.is_zero() || (number / of).is_integer()
}

/// The least common multiple of two fractions.
fn common_multiple(one: &BigRational, other: &BigRational) -> BigRational {
    if one == other {
        return one.clone();
    }
    let numerator = one.numer().lcm(other.numer());
    BigRational::new(numerator, one.denom().gcd(other.denom()))
}

fn stricter(
    one: &Option<End>,
    other: &Option<End>,
    is_stricter: impl Fn(&BigRational, &BigRational) -> bool,
) -> Option<End> {
    match (one, other) {
        (Some(one), Some(other)) if one.value == other.value => {
            Some(End { inclusive: one.inclusive && other.inclusive, ..one.clone() })
        }
        (Some(one), Some(other)) => {
            Some(if is_stricter(&one.value, &other.value) { one } else { other }.clone())
        }
        (one, other) => one.as_ref().or(other.as_ref()).cloned(),
    }
}
