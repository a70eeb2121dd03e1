fn main() {
    let path = std::env::args().nth(1).unwrap();
    for _ in 0..2 {
        let t = std::time::Instant::now();
        match xtask::written::Document::load(path.as_ref()) {
            Err(e) => println!("unreadable {}", e.problem),
            Ok(d) => {
                println!("read {:?}", t.elapsed());
                let f = xtask::lint::lint(&d, "2026-11-21".parse().unwrap());
                println!("lint {:?} {}", t.elapsed(), f.len());
                for f in f.iter().take(10) {
                    println!(
                        "{:?} {} {}:{} {}\n   {} [{}]",
                        f.severity, f.rule, f.span.line, f.span.column, f.pointer, f.message, f.fix
                    );
                }
            }
        }
    }
}
