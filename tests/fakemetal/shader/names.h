/*
 * names.h - types of Metal's standard library that have no meaning here: only that their names are taken.
 *
 * A program that says using namespace metal cannot use these names for what is its own: the compiler finds both and
 * calls that ambiguous. The list is of names that <metal_stdlib> brings in version 3.0 of the language.
 */
#pragma once

namespace metal {

template <class T> struct plus;
template <class T> struct minus;
template <class T> struct multiplies;
template <class T> struct divides;
template <class T> struct array_ref;
template <class T> struct uniform;
template <class T> struct initializer_list;
template <class T> struct make_scalar;
template <class T> struct is_vector;
template <class T> struct visible_function_table;
template <class... T> struct intersector;
template <class T> struct imageblock;
struct ray;
struct sampler;
struct command_buffer;
struct compute_command;
struct render_command;
enum class access;
template <class T, access a> struct texture1d;
template <class T, access a> struct texture1d_array;
template <class T, access a> struct texture2d;
template <class T, access a> struct texture2d_array;
template <class T, access a> struct texture3d;
template <class T, access a> struct texturecube;
template <class T, access a> struct texture_buffer;
template <class T, access a> struct depth2d;
template <class T, access a> struct depthcube;

}  // namespace metal
