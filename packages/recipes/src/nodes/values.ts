/** Values of callers in nodes, by the callers' codecs. */
import { type Codec, DecodeError, type Stat } from "@zooid/client";
import { ArgumentError, found, rules } from "@zooid/model";
import { atOnce, owned } from "../at-once.ts";
import { errorText } from "../error-text.ts";
import { isRecipeError, RecipeError } from "../recipe-error.ts";

/** The bytes that a codec reads, and the node that its errors name. */
export interface CodedNode {
  readonly path: string;
  readonly data: Uint8Array | null;
  readonly stat: Stat;
}

/**
 * The value of a node.
 *
 * @throws DecodeError with path, zxid and cause for data that the codec refuses; NOT_OURS with the
 *   path for data that are not in a recipe's own format
 */
export function decodedValue<T>(codec: Codec<T>, node: CodedNode): T {
  return decodedBy((data) => codec.decode(data), node);
}

/** As {@link decodedValue}, for data of which the codec reads parts. */
export function decodedBy<T>(decode: (data: Uint8Array | null) => T, node: CodedNode): T {
  try {
    return atOnce(node.path, "decode of the codec", decode(node.data));
  } catch (cause) {
    if (!isRecipeError(cause, "NOT_OURS")) throw new DecodeError(node, cause);
    throw new RecipeError("NOT_OURS", `${node.path}: ${cause.message}`, { cause });
  }
}

/**
 * The data for a value.
 *
 * @param what the recipe, for the message
 * @throws ArgumentError for a value that the codec cannot write, or would refuse to read; no client
 *   could use the node
 */
export function encodedValue<T>(
  what: string,
  path: string,
  { codec, value }: { codec: Codec<T>; value: T },
): Uint8Array {
  const refuse = (problem: string, cause: unknown): never => {
    throw new ArgumentError(what, [`${path}: ${problem}: ${errorText(cause)}`], { cause });
  };
  let data: Uint8Array;
  try {
    data = owned(codec.encode(value));
  } catch (cause) {
    return refuse("the codec cannot write the value", cause);
  }
  if (!rules.bytes.accepts(data)) {
    throw new ArgumentError(what, [`${path}: the codec writes a value as a Uint8Array, found ${found(data)}`]);
  }
  try {
    atOnce(what, "decode of the codec", codec.decode(data));
  } catch (cause) {
    return refuse("the value's own codec cannot read it again", cause);
  }
  return data;
}
