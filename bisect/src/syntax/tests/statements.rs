//! Which statement a position means, and what is said of it.

use super::insertions::position;
use super::*;
use crate::syntax::{LocTold, SourceRefusal, SourceStatement, Synchronising};

/// A text in a kernel, and the places of its marks.
fn marked(text: &str) -> (SourceFile, Vec<Position>) {
    let mut plain =
        format!("__device__ int data, out, flag;\n__device__ volatile int vflag, ring[8];\n{text}");
    let mut marks = Vec::new();
    while let Some(at) = plain.find('@') {
        plain.remove(at);
        marks.push(position(&plain, at));
    }
    (SourceFile::parse("a.cu", plain), marks)
}

fn statements(text: &str) -> Vec<SourceStatement> {
    let (file, marks) = marked(text);
    file.statements_at(marks[0]).expect("statements")
}

#[test]
fn of_several_statements_on_a_line_the_first_is_likeliest_and_the_rest_are_candidates() {
    let found = statements("__device__ void f(int n) {\n    @data = n; flag = 1; while (vflag == 0);\n}\n");
    let texts: Vec<&str> = found.iter().map(|statement| statement.text.as_str()).collect();
    assert_eq!(texts, ["data = n;", "flag = 1;", "while (vflag == 0)", ";"]);
    assert!(found.iter().all(|statement| statement.told == LocTold::SharesLine));
}

#[test]
fn a_column_behind_a_macro_is_not_believed() {
    // `__device__` is expanded by the preprocessor: the name of the function stands further right for the compiler.
    let (file, _) = marked("__device__ void st(int x) { data = x; flag = 1; }\n");
    let found = file.statements_at(Position { line: 3, column: 30 }).expect("statements");
    assert_eq!(found.len(), 2);
    let beyond = file.statements_at(Position { line: 3, column: 300 }).expect("statements");
    assert_eq!(beyond.len(), 2);
}

#[test]
fn a_statement_alone_on_its_lines_is_told_by_its_position() {
    let found = statements("__device__ void f(int n) {\n    @data =\n        n;\n    flag = 1;\n}\n");
    let [only] = &found[..] else { panic!("{found:?}") };
    assert_eq!(only.told, LocTold::ByPosition);
    assert_eq!(only.function.as_deref(), Some("f"));
    let (from, to) = (only.span.from, only.span.to);
    assert_eq!((from.line, from.column, to.line, to.column), (4, 5, 6, 5));
    assert!(
        only.span.holds(Position { line: 5, column: 9 }) && only.span.holds(Position { line: 5, column: 0 })
    );
    assert!(!only.span.holds(Position { line: 6, column: 5 }));
}

#[test]
fn the_spots_of_a_nested_statement_go_outwards_to_its_function() {
    let found = statements(
        "template <typename T> struct S {\n    __device__ void g(int n) {\n        for (int i = 0; i < n; i++) {\n            if (n > 3) {\n                @data = i;\n            }\n        }\n    }\n};\n",
    );
    let forms: Vec<(Side, Form, u32)> =
        found[0].spots.iter().map(|spot| (spot.side, spot.form, spot.depth)).collect();
    assert_eq!(
        forms,
        [
            (Side::Behind, Form::Statement, 0),
            (Side::Before, Form::Statement, 0),
            (Side::Behind, Form::EnclosingBranch, 1),
            (Side::Before, Form::EnclosingBranch, 1),
            (Side::Behind, Form::EnclosingLoop, 2),
            (Side::Before, Form::EnclosingLoop, 2),
            (Side::Before, Form::FunctionStart, 3),
            (Side::Behind, Form::FunctionEnd, 3),
        ]
    );
    assert!(found[0].spots.iter().all(|spot| spot.function.as_deref() == Some("g")));
}

#[test]
fn the_spots_of_a_macro_say_how_often_it_is_used_and_where() {
    let found = statements(
        "#define BOTH(v) do { data = (v); flag = 1; } while (0)\n__device__ void f(int n) {\n    @BOTH(n);\n    BOTH(n + 1);\n    if (n > 3) BOTH(9);\n}\n",
    );
    let within: Vec<&Spot> = found[0].spots.iter().filter(|spot| spot.in_macro.is_some()).collect();
    assert!(!within.is_empty());
    for spot in within {
        assert_eq!(spot.in_macro.as_ref().map(|used| (used.name.as_str(), used.uses)), Some(("BOTH", 3)));
        let lines: Vec<u32> = spot.elsewhere.iter().map(|span| span.from.line).collect();
        assert_eq!((spot.line, spot.span.from.line, lines), (3, 5, vec![6, 7]));
        assert_eq!((spot.told, spot.insertions("a.cu", Inserted::Fence).len()), (LocTold::InMacro, 3));
    }
}

#[test]
fn nothing_can_be_written_between_two_accesses_of_one_statement() {
    for text in [
        "    if (@n == 3 && @vflag == 1) data = 2;",
        "    @data = 1, @flag = 2;",
        "    const int @u = vflag, @w = vflag;",
        "    data = @vflag + @vflag;",
    ] {
        let (file, marks) = marked(&format!(
            "__device__ void f(int n) {{\n{}\n}}\n",
            text.replace("data = 2;", "\n        data = 2;")
        ));
        let refused = file.between(marks[0], marks[1]).expect_err(text);
        assert!(refused.to_string().starts_with("two accesses of one statement: `"), "{refused}");
        assert!(matches!(refused, SourceRefusal::OneStatement { line: 4, .. }));
    }
}

#[test]
fn between_two_statements_lie_the_spots_that_a_thread_passes_from_the_one_to_the_other() {
    let (file, marks) = marked(
        "__device__ void f(int n) {\n    for (int i = 0; i < n; i++) {\n        @data = i;\n    }\n    out = 3;\n    if (n > 3) {\n        @flag = 1;\n    }\n}\n",
    );
    let found = file.between(marks[0], marks[1]).expect("spots");
    let said: Vec<(Side, Form, u32)> = found.iter().map(|spot| (spot.side, spot.form, spot.line)).collect();
    assert_eq!(
        said,
        [
            (Side::Behind, Form::Statement, 5),
            (Side::Before, Form::Statement, 9),
            (Side::Behind, Form::EnclosingLoop, 6),
            (Side::Before, Form::EnclosingBranch, 8),
        ]
    );
    let (file, marks) =
        marked("__device__ void f() {\n    @data = 1;\n}\n__device__ void g() {\n    @flag = 1;\n}\n");
    let found = file.between(marks[0], marks[1]);
    // Behind the one and before the other, each in its own function.
    assert!(found.expect("spots").iter().all(|spot| spot.function.is_some()));
}

#[test]
fn what_a_statement_synchronises_is_read_from_its_words() {
    use Synchronising::{Acquiring, Both, None, Releasing};
    let table = [
        ("@data = n;", None),
        ("@vflag = n;", Releasing),
        ("@data = vflag;", Acquiring),
        ("@vflag += 1;", Both),
        ("@ring[n] = 3;", Releasing),
        ("@while (vflag == 0) {}", Acquiring),
        ("@*(volatile int *)m = 1;", Releasing),
        ("@data = *reinterpret_cast<volatile int *>(m);", Acquiring),
        ("@atomicExch(m, 0);", Releasing),
        ("@while (atomicCAS(m, 0, 1) != 0) {}", Acquiring),
        ("@do { data = 1; } while (@atomicExch(m, 1) == 1);", Acquiring),
        ("@const bool last = atomicAdd(m, 1) == 7;", Both),
        ("@if (atomicAdd(m, 1) == 7) {}", Both),
        ("@r.store(1, cuda::memory_order_release);", Releasing),
        ("@r.store(1, cuda::memory_order_relaxed);", Releasing),
        ("@while (r.load(cuda::memory_order_acquire) == 0) {}", Acquiring),
        ("@data = r.fetch_add(1, cuda::memory_order_acq_rel);", Both),
        ("@data = r.fetch_add(1, cuda::memory_order_release);", Releasing),
        ("@data = r.exchange(1, cuda::std::memory_order::acquire);", Acquiring),
        ("@__nv_atomic_store_n(m, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);", Releasing),
        ("@asm volatile(\"st.release.gpu.u32 [%0], %1;\" :: \"l\"(m), \"r\"(n));", Releasing),
        ("@asm volatile(\"ld.acquire.gpu.u32 %0, [%1];\" : \"=r\"(n) : \"l\"(m));", Acquiring),
        ("@asm volatile(\"st.u32 [%0], %1;\" :: \"l\"(m), \"r\"(n));", None),
        ("@SIGNAL(m);", Releasing),
        ("@__threadfence();", None),
    ];
    for (text, expected) in table {
        let mark = text.rfind('@').expect("a mark");
        let text = format!("{}@{}", text[..mark].replace('@', ""), &text[mark + 1..]);
        let found = statements(&format!(
            "#define SIGNAL(f) atomicExch((f), 1)\n__device__ void f(int n, int *m, cuda::atomic<int> &r) {{\n    {text}\n}}\n"
        ));
        let expected_of = if text.starts_with("do") {
            found.iter().find(|found| found.text.contains("Exch"))
        } else {
            found.first()
        };
        assert_eq!(expected_of.map(|found| found.synchronising), Some(expected), "{text}: {found:?}");
    }
}

#[test]
fn a_file_that_the_grammar_does_not_know_is_refused_only_where_it_matters() {
    let text = "template <auto... V> consteval auto odd() -> decltype(auto) requires (V || ...) { co_return; }\n@@@ what %% is this;\n__global__ void k(int *m) {\n    data = 1;\n    m[0] = ` 3;\n    flag = 2;\n}\n";
    let file = SourceFile::parse("a.cu", text);
    let at = |line| file.spots_at(Position { line, column: 0 });
    assert!(at(4).is_ok_and(|spots| !spots.is_empty()));
    assert!(at(6).is_ok_and(|spots| !spots.is_empty()));
    assert!(matches!(at(5), Err(SourceRefusal::NotUnderstood { line: 5, .. })), "{:?}", at(5));
}

/// What looks like a space and takes several bytes is left as it is.
#[test]
fn odd_spaces_behind_a_macro_do_no_harm() {
    for space in ["\u{a0}", "\u{3000}", "\u{2028}"] {
        let text = format!("#define WAIT() spin();\nvoid f() {{\n    WAIT(){space}g();\n}}\n");
        let file = SourceFile::parse("k.cu", text);
        let _ = file.spots_at(Position { line: 3, column: 5 });
        assert!(file.text().contains(space));
    }
}
