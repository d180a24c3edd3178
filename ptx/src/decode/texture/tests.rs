use crate::ast::{AddressBase, Operand, StatementKind};
use crate::op::{Bounds, Detail, Geometry, Op, Query, Texture};
use crate::types::Type;

/// The one instruction of a function: what it is, and its operands.
fn instruction(text: &str) -> (Op, Vec<Operand>) {
    let registers = ".reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .f32 %f<12>; .reg .b16 %h<4>; .reg .pred %p<2>;";
    let source = format!(".version 9.0 .target sm_90 .address_size 64 .func f() {{ {registers} {text} }}");
    let module = crate::parse(&source).unwrap_or_else(|error| panic!("{text}: {error}"));
    let body = module.function("f").and_then(|f| f.body.as_ref()).expect("declared above");
    let found = body.statements.iter().find_map(|statement| match &statement.kind {
        StatementKind::Instruction(found) => Some((found.op.clone(), found.operands.clone())),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("{text} is no instruction"))
}

fn op(text: &str) -> Op {
    instruction(text).0
}

#[test]
fn handle_and_coordinates_are_two_operands() {
    let (_, operands) = instruction("tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}|%p1, [%rd1, {%f4, %f5}];");
    let register = |name: &str| Operand::Register(name.to_owned());
    let handle = Operand::Address { base: AddressBase::Register("%rd1".to_owned()), offset: 0 };
    assert!(matches!(operands[0], Operand::Pair(..)));
    assert_eq!(operands[1..], [handle.clone(), Operand::Vector(vec![register("%f4"), register("%f5")])]);
    let (_, operands) = instruction("suld.b.1d.b32.trap %r1, [%rd1, %r2];");
    assert_eq!(operands[1..], [handle, Operand::Vector(vec![register("%r2")])]);
}

#[test]
fn fetches() {
    let fetch =
        |geometry, detail, dst, coordinate| Op::Texture(Texture::Fetch { geometry, detail, dst, coordinate });
    let four = "{%f0, %f1, %f2, %f3}";
    assert_eq!(
        op(&format!("tex.1d.v4.f32.s32 {four}, [%rd1, {{%r1}}];")),
        fetch(Geometry::D1, Detail::Base, Type::F32, Type::S32)
    );
    assert_eq!(
        op(&format!("tex.level.a2d.v4.u32.f32 {four}, [%rd1, {{%r1, %f5, %f6, %f6}}], %f7;")),
        fetch(Geometry::A2, Detail::Level, Type::U32, Type::F32)
    );
    assert_eq!(
        op(&format!("tex.grad.2d.v4.s32.f32 {four}, [%rd1, {{%f5, %f6}}], {{%f1, %f2}}, {{%f3, %f4}};")),
        fetch(Geometry::D2, Detail::Gradients, Type::S32, Type::F32)
    );
    let gather = Texture::Gather { geometry: Geometry::D2, component: 2, dst: Type::F32 };
    assert_eq!(op(&format!("tld4.b.2d.v4.f32.f32 {four}, [%rd1, {{%f5, %f6}}];")), Op::Texture(gather));
    for other in [
        "tex.2d.v4.f32.f64 {%f0, %f1, %f2, %f3}, [%rd1, {%f4, %f5}];",
        "tex.2d.v2.f16x2.f32 {%r0, %r1}, [%rd1, {%f4, %f5}];",
        "tex.2dms.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%rd1, {%r1, %r2, %r3, %r3}];",
        "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd1, %rd2, {%f4, %f5}];",
        "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd1, {%f4, %f5}], {%r1, %r2};",
        "tld4.r.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd1, {%f4}];",
    ] {
        assert_eq!(op(other), Op::Other, "{other}");
    }
}

#[test]
fn surface_accesses_and_queries() {
    let (geometry, ty) = (Geometry::D3, Type::B16);
    assert_eq!(
        op("suld.b.3d.v2.b16.clamp {%h0, %h1}, [%rd1, {%r1, %r2, %r3, %r3}];"),
        Op::Texture(Texture::Load { geometry, bounds: Bounds::Clamp, vec: 2, ty })
    );
    assert_eq!(
        op("sust.b.2d.b64.zero [%rd1, {%r1, %r2}], {%rd2};"),
        Op::Texture(Texture::Store { geometry: Geometry::D2, bounds: Bounds::Zero, vec: 1, ty: Type::B64 })
    );
    let query = |query, surface| Op::Texture(Texture::Query { query, surface });
    assert_eq!(op("txq.num_mipmap_levels.b32 %r1, [%rd1];"), query(Query::MipmapLevels, false));
    assert_eq!(op("suq.array_size.b32 %r1, [%rd1];"), query(Query::ArraySize, true));
    for other in [
        "sust.p.1d.v4.b32.trap [%rd1, {%r1}], {%r2, %r3, %r4, %r5};",
        "suld.b.2d.v4.b64.trap {%rd0, %rd1, %rd2, %rd3}, [%rd1, {%r1, %r2}];",
        "sured.b.add.1d.u32.trap [%rd1, {%r1}], %r2;",
        "suq.num_mipmap_levels.b32 %r1, [%rd1];",
    ] {
        assert_eq!(op(other), Op::Other, "{other}");
    }
}
