#pragma once
// What kind of character a code point is.

namespace retrace {

enum class CharacterKind { letter, number, space, other };

// By Unicode 14: letters and numbers are the general categories L and N, spaces have the property White_Space.
CharacterKind character_kind(char32_t character);

}  // namespace retrace
