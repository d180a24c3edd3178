//! The growth over four sizes, as a number and as a picture.

use std::fmt::Write;

/// The exponent of a power law through the points (least squares of the logarithms).
pub fn growth(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|p| (p.0.ln(), p.1.ln())).collect();
    let n = logs.len() as f64;
    let (sx, sy) = logs.iter().fold((0.0, 0.0), |s, p| (s.0 + p.0, s.1 + p.1));
    let (mx, my) = (sx / n, sy / n);
    let (num, den) =
        logs.iter().fold((0.0, 0.0), |s, p| (s.0 + (p.0 - mx) * (p.1 - my), s.1 + (p.0 - mx) * (p.0 - mx)));
    num / den
}

/// Time over commands, with the line n log n through the first point.
pub fn svg(points: &[(f64, f64)]) -> String {
    let (width, height, margin) = (520.0, 340.0, 60.0);
    let n_log_n = |n: f64| points[0].1 * (n * n.ln()) / (points[0].0 * points[0].0.ln());
    let last = points[points.len() - 1];
    let (x_max, y_max) = (last.0 * 1.05, last.1.max(n_log_n(last.0)) * 1.1);
    let x = |n: f64| margin + n / x_max * (width - 1.5 * margin);
    let y = |t: f64| height - margin - t / y_max * (height - 1.5 * margin);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n\
         <path d=\"M{m} {t} V{b} H{r}\" fill=\"none\" stroke=\"black\"/>\n",
        m = margin,
        t = margin / 2.0,
        b = height - margin,
        r = width - margin / 2.0,
    );
    let path = |f: &dyn Fn(f64, f64) -> f64| {
        let step = |(i, p): (usize, &(f64, f64))| {
            format!("{}{:.1} {:.1}", if i == 0 { 'M' } else { 'L' }, x(p.0), y(f(p.0, p.1)))
        };
        points.iter().enumerate().map(step).collect::<String>()
    };
    let _ = writeln!(
        out,
        "<path d=\"{}\" fill=\"none\" stroke=\"#999\" stroke-dasharray=\"4 3\"/>\n<path d=\"{}\" fill=\"none\" stroke=\"#06c\"/>",
        path(&|n, _| n_log_n(n)),
        path(&|_, t| t)
    );
    for &(n, t) in points {
        let _ = writeln!(
            out,
            "<circle cx=\"{0:.1}\" cy=\"{1:.1}\" r=\"3\" fill=\"#06c\"/><text x=\"{0:.1}\" y=\"{2:.1}\" text-anchor=\"middle\">{3:.1} M</text><text x=\"{0:.1}\" y=\"{4:.1}\" text-anchor=\"end\">{5:.3} s</text>",
            x(n),
            y(t),
            height - margin + 16.0,
            n / 1e6,
            y(t) - 8.0,
            t
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">commands of all threads</text>\n<text x=\"{}\" y=\"20\">seconds; dashed: n log n through the first point</text>\n</svg>",
        width / 2.0,
        height - 16.0,
        margin
    );
    out
}
