use super::*;

#[test]
fn those_without_a_cause_are_unexplained() {
    let odd = [
        Odd { what: "one".to_owned(), cause: Some("Because.") },
        Odd { what: "two".to_owned(), cause: Some("Because.") },
        Odd { what: "three".to_owned(), cause: None },
    ];
    assert_eq!(told(&odd), "Differences in kind:\n\n- one; two. Because.\n- three. **Unexplained.**\n\n");
    assert_eq!(unexplained(&odd), ["three. **Unexplained.**"]);
    assert_eq!(told(&[]), "No difference in kind.\n\n");
}
