import { keepCode } from "../errors/cloned-error.ts";
import { errorJson } from "../errors/error-json.ts";

/** Why bytes could not be read. */
export type WireErrorCode =
  | "TRUNCATED" // a field reaches past the end of its frame
  | "LENGTH" // a negative or impossible length or count
  | "FRAME_SIZE" // a frame beyond the limit
  | "CHECKSUM" // a frame whose bytes are not those that were sent
  | "VALUE" // a value that the field cannot hold
  | "UNKNOWN_TYPE"; // a kind of record that does not exist

/** Bytes that are not what they should be. Decoders either return a whole value or throw this. */
export class WireError extends Error {
  override readonly name = "WireError";
  readonly code: WireErrorCode;
  constructor(code: WireErrorCode, message: string) {
    super(message);
    this.code = code;
    keepCode(this, code);
  }

  /** As JSON, in a bounded size; see `errorJson`. */
  toJSON(): object {
    return errorJson(this);
  }
}
