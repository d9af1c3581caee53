//! C declarations of the Rust structures and arrays that host and kernels share.

use crate::vec3::Vec3;
use bytemuck::{Pod, Zeroable};
use std::fmt::Write;
use std::marker::PhantomData;

/// Type of the elements of arrays on the device.
pub(crate) trait Element: Pod {
    /// Returns the name of the type in C.
    fn c() -> String;
}

/// Type of the fields of shared structures.
pub(super) trait Member: Copy {
    /// Returns the C declaration of a field of this type.
    fn declare(name: &str) -> String;
}

/// The address of an array on the device.
#[repr(transparent)]
pub(crate) struct Pointer<T>(pub(super) u64, PhantomData<T>);

impl<T> Pointer<T> {
    /// Creates a pointer from a device address.
    pub(super) fn new(address: u64) -> Self {
        Pointer(address, PhantomData)
    }
}

impl<T> Clone for Pointer<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Pointer<T> {}

// SAFETY: the structure contains only an integer
unsafe impl<T> Zeroable for Pointer<T> {}
// SAFETY: the structure is `repr(transparent)` around a `u64`
unsafe impl<T: 'static> Pod for Pointer<T> {}

impl<T: Element> Member for Pointer<T> {
    fn declare(name: &str) -> String {
        format!("{}* {name}", T::c())
    }
}

/// Implements [`Element`] for number types and vectors, with their names in C.
macro_rules! elements {
    ($($rust:ty = $c:literal),*) => { $(impl Element for $rust {
            fn c() -> String {
                $c.into()
            }
        })* };
}
elements!(
    u32 = "u32",
    i32 = "int",
    i64 = "i64",
    f32 = "float",
    f64 = "double",
    Vec3 = "Vec3<double>",
    [f32; 2] = "float2",
    [f32; 4] = "float4",
    [u32; 2] = "uint2",
    [i32; 4] = "int4"
);

/// Implements [`Member`] for types of structure fields and for arrays of these types.
macro_rules! members {
    ($($rust:ty),*) => {
        $(impl Member for $rust {
            fn declare(name: &str) -> String {
                format!("{} {name}", <$rust as Element>::c())
            }
        }
        impl<const N: usize> Member for [$rust; N] {
            fn declare(name: &str) -> String {
                format!("{} {name}[{N}]", <$rust as Element>::c())
            }
        })*
    };
}
members!(u32, i64, f32, f64);

/// A structure as it is declared in C.
pub(super) struct Structure {
    pub(super) name: &'static str,
    /// bytes
    pub(super) size: usize,
    pub(super) fields: &'static [Field],
}

/// A field of a [`Structure`].
pub(super) struct Field {
    pub(super) name: &'static str,
    /// offset of the field from the start of the structure, bytes
    pub(super) offset: usize,
    /// function that returns the C declaration of a field of this type, see [`Member::declare`]
    pub(super) declare: fn(&str) -> String,
}

impl Structure {
    /// Returns the declaration in C, with an assertion for the size and each offset.
    pub(super) fn declaration(&self) -> String {
        let Structure { name, size, fields } = self;
        let mut text = format!("struct {name} {{\n");
        for Field { name, declare, .. } in *fields {
            let _ = writeln!(text, "    {};", declare(name));
        }
        let _ = writeln!(text, "}};\nstatic_assert(sizeof({name}) == {size}, \"{name}\");");
        // the device compiler has no `offsetof`, but it uses the same structure layout as the host compiler
        text += "#ifndef __CUDACC__\n";
        for Field { name: field, offset, .. } in *fields {
            let condition = format!("__builtin_offsetof({name}, {field}) == {offset}");
            let _ = writeln!(text, "static_assert({condition}, \"{name}.{field}\");");
        }
        text + "#endif\n"
    }
}

/// Defines a structure in Rust, and the constant `STRUCTURE` with the declaration of the structure in C.
macro_rules! shared {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy, Pod, Zeroable)]
        pub(crate) struct $name {
            $($(#[$doc])* pub(in crate::backend::cuda) $field: $type,)*
        }

        impl $name {
            pub(in crate::backend::cuda) const STRUCTURE: $crate::backend::cuda::shared::Structure = {
                use $crate::backend::cuda::shared::{Field, Structure};
                Structure {
                    name: stringify!($name),
                    size: size_of::<Self>(),
                    fields: &[$(Field {
                        name: stringify!($field),
                        offset: std::mem::offset_of!(Self, $field),
                        declare: <$type as Member>::declare,
                    }),*],
                }
            };
        }

        impl Element for $name {
            fn c() -> String {
                stringify!($name).into()
            }
        }
    };
}

pub(super) use {members, shared};
