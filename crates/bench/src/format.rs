//! Numbers and amounts as text.

/// A number with three significant digits. From 1000 to a million it is rounded to a whole number
/// instead. Whole numbers below a million have no decimals.
pub fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_string(),
        size if !(1e-3..1e6).contains(&size) => format!("{value:.2e}"),
        size if size >= 100.0 || value.fract() == 0.0 => format!("{value:.0}"),
        size => {
            let digits = 2 - size.log10().floor() as i32;
            format!("{value:.*}", digits.clamp(0, 5) as usize)
        }
    }
}

/// A parameter with its unit: "64 KiB", "8 B", "99.9 %", "3".
pub fn amount(value: f64, unit: &str) -> String {
    match unit {
        "" => format!("{value}"),
        "B" if bytes(value).ends_with('i') => format!("{}B", bytes(value)),
        "us" => format!("{value} µs"),
        unit => format!("{value} {unit}"),
    }
}

/// A number of bytes with a binary prefix, such as "64 Ki".
pub fn bytes(value: f64) -> String {
    for (name, size) in [("Gi", 1u64 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)] {
        if value >= size as f64 && value % size as f64 == 0.0 {
            return format!("{} {name}", value / size as f64);
        }
    }
    format!("{value}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (0.1294, "0.129"),
            (1.0, "1"),
            (5.906, "5.91"),
            (18.34, "18.3"),
            (875.4, "875"),
            (12345.6, "12346"),
            (0.000123, "1.23e-4"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!(bytes(8.0), "8");
        assert_eq!(bytes(65536.0), "64 Ki");
        assert_eq!(bytes(1048576.0), "1 Mi");
    }
}
