//! Numbers as Go has them.

/// Whether a floating-point number counts as an integer, with the tolerance of Go's `swag` library.
pub(super) fn is_integral(value: f64) -> bool {
    const LARGEST: f64 = 9_007_199_254_740_991.0;
    const TOLERANCE: f64 = 1e-9;
    if !(-LARGEST..=LARGEST).contains(&value) {
        return false;
    }
    let whole = value.trunc();
    let difference = (value - whole).abs();
    difference == 0.0 || (whole != 0.0 && difference / (value.abs() + whole.abs()) < TOLERANCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_integral() {
        for (value, integral) in [
            (1.0, true),
            (0.5, false),
            (-3.0, true),
            (0.0, true),
            (1e300, false),
            (1e-12, false),
            (3.000_000_000_1, true),
        ] {
            assert_eq!(is_integral(value), integral, "{value}");
        }
    }
}
