//! A picture of a terminal, made from a block of a page, which is held against what the command prints. So the picture shows
//! real output.

const LINE: usize = 19;
const COLUMN: f64 = 8.43;

/// The picture of these lines.
pub fn svg(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let columns = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let width = (columns as f64).mul_add(COLUMN, 32.0).ceil();
    let height = lines.len() * LINE + 32;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\">\n\
         <title>bugaroo in a terminal</title>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1e1e2e\"/>\n\
         <g font-family=\"ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace\" font-size=\"14\" xml:space=\"preserve\">\n"
    );
    for (index, line) in lines.iter().enumerate() {
        let y = 28 + index * LINE;
        svg.push_str(&format!(
            "<text x=\"16\" y=\"{y}\" fill=\"{}\">{}</text>\n",
            colour(line),
            escaped(line)
        ));
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// The colours that a terminal shows, line by line.
fn colour(line: &str) -> &'static str {
    let inner = line.trim_start_matches(|c: char| c == ' ' || c == '|' || c.is_ascii_digit());
    if line.starts_with("error") || inner.starts_with('^') {
        "#f38ba8"
    } else if line.starts_with('$') {
        "#ffffff"
    } else if line.starts_with('+') || line.starts_with("verified") {
        "#a6e3a1"
    } else if inner.starts_with("-->")
        || inner.starts_with('-')
        || inner.starts_with('=')
        || line.starts_with("@@")
    {
        "#89dceb"
    } else {
        "#cdd6f4"
    }
}

fn escaped(line: &str) -> String {
    line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace(' ', "\u{a0}")
}
