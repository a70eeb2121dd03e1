//! Numbers as exact fractions, and the sets of numbers that a schema allows.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::One;
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
pub(super) struct End {
    pub(super) value: BigRational,
    /// Whether the value itself is in the range.
    pub(super) inclusive: bool,
}

/// Numbers between two ends that are multiples of all steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) low: Option<End>,
    pub(super) high: Option<End>,
    /// With 1 for `type: integer`, and without 0.
    pub(super) steps: BTreeSet<BigRational>,
}

impl Range {
    /// All integers.
    pub(super) fn integers() -> Self {
        Self { steps: BTreeSet::from([BigRational::one()]), ..Self::default() }
    }

    /// All integers of a two's complement representation.
    pub(super) fn of_bits(bits: u32) -> Self {
        let half = BigRational::from(BigInt::from(1) << (bits - 1));
        let end = |value| Some(End { value, inclusive: true });
        Self { low: end(-half.clone()), high: end(half - BigRational::one()), ..Self::integers() }
    }

    /// The numbers in both.
    pub(super) fn and(&self, other: &Self) -> Self {
        let low = stricter(&self.low, &other.low, Ordering::Greater);
        let high = stricter(&self.high, &other.high, Ordering::Less);
        Self { low, high, steps: &self.steps | &other.steps }.rounded()
    }

    /// Returns a range of integers with its ends moved inwards to integers.
    fn rounded(mut self) -> Self {
        let are_integers = self.steps.iter().any(BigRational::is_integer);
        for (end, inwards) in [(&mut self.low, 1), (&mut self.high, -1)] {
            let Some(end) = end.as_mut().filter(|_| are_integers) else { continue };
            if end.value.is_integer() && !end.inclusive {
                end.value += BigRational::from(BigInt::from(inwards));
            }
            end.value = if inwards > 0 { end.value.ceil() } else { end.value.floor() };
            end.inclusive = true;
        }
        self
    }

    /// Whether no number is in the range.
    pub(super) fn is_empty(&self) -> bool {
        let (Some(low), Some(high)) = (&self.low, &self.high) else { return false };
        low.value > high.value || (low.value == high.value && !(low.inclusive && high.inclusive))
    }

    /// Whether the number is in the range.
    pub(super) fn contains(&self, number: &BigRational) -> bool {
        let point = Some(End { value: number.clone(), inclusive: true });
        self.includes(&Self { low: point.clone(), high: point, steps: BTreeSet::from([number.clone()]) })
    }

    /// Whether all numbers of the other range are in this one.
    pub(super) fn includes(&self, other: &Self) -> bool {
        let reaches = |wide: &Option<End>, narrow: &Option<End>, inside: Ordering| match (wide, narrow) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(wide), Some(narrow)) => match narrow.value.cmp(&wide.value) {
                Ordering::Equal => wide.inclusive || !narrow.inclusive,
                order => order == inside,
            },
        };
        self.steps.iter().all(|wide| other.steps.iter().any(|narrow| is_multiple(narrow, wide)))
            && reaches(&self.low, &other.low, Ordering::Greater)
            && reaches(&self.high, &other.high, Ordering::Less)
    }

    /// Returns all numbers of the range if they are integers and at most `most`.
    pub(super) fn listed(&self, most: i64) -> Option<Vec<Number>> {
        let whole = |end: &Option<End>| {
            let value = &end.as_ref()?.value;
            i64::try_from(value.to_integer()).ok().filter(|_| value.is_integer())
        };
        let (low, high) = (whole(&self.low)?, whole(&self.high)?);
        let are_integers = low == high || self.steps.iter().any(BigRational::is_integer);
        if !are_integers || high.checked_sub(low)? >= most {
            return None;
        }
        let is_in = |number: &Number| exact(number).is_some_and(|number| self.contains(&number));
        Some((low..=high).map(Number::from).filter(is_in).collect())
    }
}

/// Whether a number is a multiple of another, which is not zero.
fn is_multiple(number: &BigRational, of: &BigRational) -> bool {
    (number / of).is_integer()
}

/// The end that restricts more: the greater or the less one.
fn stricter(one: &Option<End>, other: &Option<End>, strict: Ordering) -> Option<End> {
    let (Some(one), Some(other)) = (one, other) else { return one.as_ref().or(other.as_ref()).cloned() };
    Some(match one.value.cmp(&other.value) {
        Ordering::Equal => End { inclusive: one.inclusive && other.inclusive, ..one.clone() },
        order if order == strict => one.clone(),
        _ => other.clone(),
    })
}
