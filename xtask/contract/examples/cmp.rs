use contract::breaking::{change_rules, compare};
use contract::document::Document;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    if a.len() < 3 {
        for r in change_rules() {
            println!("{} {}", r.name, r.severity);
        }
        return;
    }
    let t = std::time::Instant::now();
    let x = Document::load(a[1].as_ref()).unwrap();
    let y = Document::load(a[2].as_ref()).unwrap();
    eprintln!("read {:?}", t.elapsed());
    let c = compare(&x, &y, jiff::civil::date(2026, 11, 21));
    eprintln!("all {:?}: {} changes", t.elapsed(), c.len());
    for c in c.iter().take(40) {
        println!(
            "{} {} {}\n    {:?} {}",
            c.rule.severity,
            c.rule.name,
            c.sentence(),
            c.operations.len(),
            c.place
        );
    }
}
