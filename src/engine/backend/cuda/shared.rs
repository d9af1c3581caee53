//! C declarations of the Rust structures and arrays that host and kernels share.

use crate::vec3::Vec3;
use bytemuck::{Pod, Zeroable};
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
// SAFETY: `repr(transparent)` around a `u64`
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

/// Defines a structure in Rust and declares it in C.
macro_rules! shared {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy, Pod, Zeroable)]
        pub(crate) struct $name {
            $($(#[$doc])* pub(in crate::backend::cuda) $field: $type,)*
        }

        impl $name {
            pub(in crate::backend::cuda) fn declaration() -> String {
                let name = stringify!($name);
                let mut text = format!("struct {name} {{\n");
                $(text += &format!("    {};\n", <$type as Member>::declare(stringify!($field)));)*
                text += &format!("}};\nstatic_assert(sizeof({name}) == {}, \"{name}\");\n", size_of::<Self>());
                // the device compiler has no `offsetof`, but it uses the same structure layout as the host compiler
                text += "#ifndef __CUDACC__\n";
                $(text += &format!(
                    "static_assert(__builtin_offsetof({name}, {field}) == {offset}, \"{name}.{field}\");\n",
                    field = stringify!($field), offset = std::mem::offset_of!(Self, $field)
                );)*
                text + "#endif\n"
            }
        }

        impl Element for $name {
            fn c() -> String {
                stringify!($name).into()
            }
        }
    };
}

pub(super) use {members, shared};
