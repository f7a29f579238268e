//! Checks that every row of the benchmark for messages runs. Its figures are of no interest here.

use std::collections::HashSet;
use std::process::Command;

use serde_json::Value;

#[test]
fn every_row_runs() {
    let path = std::env::temp_dir().join(format!("mgn-bench-{}.json", std::process::id()));
    let output = Command::new(env!("CARGO_BIN_EXE_mgn-bench-messages"))
        .args(["--quick", "--json"])
        .arg(&path)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let results: Value = serde_json::from_str(&text).unwrap();
    let rows = results["rows"].as_array().unwrap();
    let names: HashSet<&str> = rows.iter().filter_map(|row| row["row"].as_str()).collect();
    for name in [
        "one way, 8 B",
        "stream, 16 MiB",
        "in place, 1 MiB",
        "unix, stream, 64 KiB",
        "tcp, overlap, 32 KiB, T = 2 xfer",
        "all to all, shm",
        "many to one, tcp",
    ] {
        assert!(names.contains(name), "{name} is not in {names:?}");
    }
    let table = String::from_utf8_lossy(&output.stdout);
    for row in rows {
        for method in row["ways"].as_array().into_iter().flatten() {
            let values = method["values"].as_array().unwrap();
            let is_number = |value: &Value| value.as_f64().is_some_and(f64::is_finite);
            assert!(!values.is_empty() && values.iter().all(is_number), "{row}");
        }
        let name = row["row"].as_str().unwrap();
        assert!(table.contains(name), "{name} is not in the table");
    }
}
