//! The results as a table and as JSON.

use crate::rows::RowResult;
use mgn_bench::gl::run::Sample;
use serde_json::json;

pub const HEADINGS: &str = "row                          way             median unit            ratio to the first (range)      wanted   CPU s: program  server   in send";

pub fn lines(result: &RowResult) -> String {
    let mut text = String::new();
    for (i, (mode, samples)) in result.samples.iter().enumerate() {
        let ratios = sorted(result.ratios(i));
        let wanted = result.row.wanted.iter().find(|w| w.0 == *mode);
        let value = median(samples, |s| s.value) * result.row.scale;
        let answer = |is_so: bool| if is_so { "yes" } else { "NO" };
        let most = result.row.most.filter(|_| i == 0);
        let most_more = result.row.most_more.filter(|_| i > 0);
        let verdict = match (wanted, most, most_more) {
            (Some((_, least)), ..) => {
                format!(">= {least:.2}: {}", answer(middle(&ratios) >= *least))
            }
            (_, Some(most), _) => format!("<= {most:.2}: {}", answer(value <= most)),
            (.., Some(most)) => {
                let more = middle(&sorted(result.differences(i)));
                format!("<= +{most:.0}: {}", answer(more <= most))
            }
            _ => String::new(),
        };
        let ratio = if i == 0 {
            String::new()
        } else {
            format!(
                "{:.2} ({:.2}-{:.2})",
                middle(&ratios),
                ratios[0],
                ratios[ratios.len() - 1]
            )
        };
        text += &format!(
            "{:<28} {:<14} {:>8.2} {:<14}  {ratio:<28} {verdict:<13} {:>12.2} {:>8.2} {:>7.1}%\n",
            if i == 0 { result.row.name } else { "" },
            mode.name(),
            value,
            result.row.unit,
            median(samples, |s| s.program_cpu),
            median(samples, |s| s.server_cpu),
            median(samples, |s| s.send_wait) * 100.0,
        );
    }
    text
}

pub fn json(results: &[RowResult]) -> String {
    let rows: Vec<_> = results
        .iter()
        .map(|r| {
            let modes: Vec<_> = r
                .samples
                .iter()
                .enumerate()
                .map(|(i, (mode, samples))| {
                    json!({
                        "way": mode.name(),
                        "values": samples.iter().map(|s| s.value * r.row.scale).collect::<Vec<_>>(),
                        "ratios": r.ratios(i),
                        "differences": r.differences(i),
                        "program_cpu_seconds": samples.iter().map(|s| s.program_cpu).collect::<Vec<_>>(),
                        "server_cpu_seconds": samples.iter().map(|s| s.server_cpu).collect::<Vec<_>>(),
                        "send_wait_share": samples.iter().map(|s| s.send_wait).collect::<Vec<_>>(),
                    })
                })
                .collect();
            json!({ "row": r.row.name, "unit": r.row.unit, "ways": modes })
        })
        .collect();
    format!("{:#}\n", json!({ "version": 1, "rows": rows }))
}

fn median(samples: &[Sample], of: impl Fn(&Sample) -> f64) -> f64 {
    middle(&sorted(samples.iter().map(of).collect()))
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

fn middle(values: &[f64]) -> f64 {
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows;
    use mgn_bench::gl::run::RunMode;

    /// The samples of one round of the row with this name, in seconds.
    fn measured(name: &str, seconds: &[(RunMode, f64)]) -> RowResult {
        let row = rows::all().into_iter().find(|row| row.name == name);
        let sample = |value: f64| Sample {
            value,
            program_cpu: 0.0,
            server_cpu: 0.0,
            send_wait: 0.0,
        };
        let samples = seconds.iter();
        RowResult {
            row: row.expect("a row of this name"),
            samples: samples.map(|(mode, s)| (*mode, vec![sample(*s)])).collect(),
        }
    }

    #[test]
    fn a_start_may_take_so_much_longer_than_directly() {
        for name in ["start, one frame", "start, empty caches"] {
            let result = measured(name, &[(RunMode::Direct, 0.07), (RunMode::Own, 0.26)]);
            assert!(
                lines(&result).contains("<= +200: yes"),
                "{}",
                lines(&result)
            );
            let result = measured(name, &[(RunMode::Direct, 0.07), (RunMode::Own, 0.28)]);
            assert!(lines(&result).contains("<= +200: NO"), "{}", lines(&result));
            assert_eq!(lines(&result).matches("200").count(), 1);
        }
    }
}
