//! Numbers as exact fractions, and the sets of numbers that a schema allows.

use std::cmp::Ordering;
use std::fmt::Display;

use num_bigint::BigInt;
use num_integer::Integer as _;
use num_rational::BigRational;
use num_traits::{One, Signed as _};
use serde_json::Number;

/// Returns the exact value of a number in the syntax of JSON. `None` if the exponent would need too much memory.
pub(crate) fn exact(number: &impl Display) -> Option<BigRational> {
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

/// Numbers between two ends that are multiples of a step. With a step, the ends are multiples of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) low: Option<End>,
    pub(super) high: Option<End>,
    /// 1 for `type: integer`, and never 0.
    pub(super) step: Option<BigRational>,
}

impl Range {
    /// All integers.
    pub(super) fn integers() -> Self {
        Self { step: Some(BigRational::one()), ..Self::default() }
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
        let step = match (&self.step, &other.step) {
            (Some(one), Some(other)) => Some(common_multiple(one, other)),
            (one, other) => one.as_ref().or(other.as_ref()).cloned(),
        };
        Self { low, high, step }.rounded()
    }

    /// Returns the range with its ends moved inwards to multiples of the step.
    fn rounded(mut self) -> Self {
        let Some(step) = &self.step else { return self };
        for (end, inwards) in [(&mut self.low, 1), (&mut self.high, -1)] {
            let Some(end) = end.as_mut() else { continue };
            let mut steps = &end.value / step;
            if steps.is_integer() && !end.inclusive {
                steps += BigRational::from(BigInt::from(inwards));
            }
            end.value = if inwards > 0 { steps.ceil() } else { steps.floor() } * step;
            end.inclusive = true;
        }
        self
    }

    /// Returns the numbers in one of two ranges as one range. `None` if other numbers are between them, or the steps differ.
    pub(super) fn joined(&self, other: &Self) -> Option<Self> {
        let meets = |high: &Option<End>, low: &Option<End>| match (high, low, &self.step) {
            (None, _, _) | (_, None, _) => true,
            (Some(high), Some(low), Some(step)) => &low.value - &high.value <= *step,
            (Some(high), Some(low), None) => {
                low.value < high.value || (low.value == high.value && (low.inclusive || high.inclusive))
            }
        };
        let are_near =
            self.step == other.step && meets(&self.high, &other.low) && meets(&other.high, &self.low);
        are_near.then(|| Self {
            low: looser(&self.low, &other.low, Ordering::Less),
            high: looser(&self.high, &other.high, Ordering::Greater),
            step: self.step.clone(),
        })
    }

    /// Orders ranges by their steps, then by their low ends.
    pub(super) fn low_first(&self, other: &Self) -> Ordering {
        let low = |range: &Self| range.low.as_ref().map(|end| (end.value.clone(), !end.inclusive));
        self.step.cmp(&other.step).then_with(|| low(self).cmp(&low(other)))
    }

    /// The memory that the step needs, in words of 64 bits.
    pub(super) fn size(&self) -> usize {
        let bits = self.step.as_ref().map_or(0, |step| step.numer().bits() + step.denom().bits());
        usize::try_from(bits / 64).unwrap_or(usize::MAX)
    }

    /// Whether no number is in the range.
    pub(super) fn is_empty(&self) -> bool {
        let (Some(low), Some(high)) = (&self.low, &self.high) else { return false };
        low.value > high.value || (low.value == high.value && !(low.inclusive && high.inclusive))
    }

    /// Whether the number is in the range.
    pub(super) fn contains(&self, number: &BigRational) -> bool {
        let point = Some(End { value: number.clone(), inclusive: true });
        self.includes(&Self { low: point.clone(), high: point, step: Some(number.clone()) })
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
        let has_steps = self
            .step
            .as_ref()
            .is_none_or(|wide| other.step.as_ref().is_some_and(|step| (step / wide).is_integer()));
        has_steps
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
        let are_integers = low == high || self.step.as_ref().is_some_and(BigRational::is_integer);
        if !are_integers || high.checked_sub(low)? >= most {
            return None;
        }
        let is_in = |number: &Number| exact(number).is_some_and(|number| self.contains(&number));
        Some((low..=high).map(Number::from).filter(is_in).collect())
    }
}

/// The least common multiple of two steps.
fn common_multiple(one: &BigRational, other: &BigRational) -> BigRational {
    BigRational::new(one.numer().lcm(other.numer()), one.denom().gcd(other.denom())).abs()
}

/// The end that restricts less: the greater or the less one.
fn looser(one: &Option<End>, other: &Option<End>, loose: Ordering) -> Option<End> {
    let (Some(one), Some(other)) = (one, other) else { return None };
    Some(match one.value.cmp(&other.value) {
        Ordering::Equal => End { inclusive: one.inclusive || other.inclusive, ..one.clone() },
        order if order == loose => one.clone(),
        _ => other.clone(),
    })
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
