//! The table, and the same as JSON.

use crate::rows::RowResult;
use mgn_bench::gl::run::Sample;
use serde_json::json;

pub const HEADINGS: &str = "row                          way             median unit            ratio to the first (range)      wanted   CPU s: program  server   in send";

pub fn lines(result: &RowResult) -> String {
    let mut text = String::new();
    for (i, (way, samples)) in result.samples.iter().enumerate() {
        let ratios = sorted(result.ratios(i));
        let wanted = result.row.wanted.iter().find(|w| w.0 == *way);
        let value = median(samples, |s| s.value) * result.row.scale;
        let answer = |is_so: bool| if is_so { "yes" } else { "NO" };
        let verdict = match (wanted, result.row.most.filter(|_| i == 0)) {
            (Some((_, least)), _) => {
                format!(">= {least:.2}: {}", answer(middle(&ratios) >= *least))
            }
            (None, Some(most)) => format!("<= {most:.2}: {}", answer(value <= most)),
            (None, None) => String::new(),
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
            way.name(),
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
            let ways: Vec<_> = r
                .samples
                .iter()
                .enumerate()
                .map(|(i, (way, samples))| {
                    json!({
                        "way": way.name(),
                        "values": samples.iter().map(|s| s.value * r.row.scale).collect::<Vec<_>>(),
                        "ratios": r.ratios(i),
                        "program_cpu_seconds": samples.iter().map(|s| s.program_cpu).collect::<Vec<_>>(),
                        "server_cpu_seconds": samples.iter().map(|s| s.server_cpu).collect::<Vec<_>>(),
                        "send_wait_share": samples.iter().map(|s| s.send_wait).collect::<Vec<_>>(),
                    })
                })
                .collect();
            json!({ "row": r.row.name, "unit": r.row.unit, "ways": ways })
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
