import { CodedError } from "../errors/coded-error.ts";

/** Why bytes could not be read. */
export type WireErrorCode =
  | "TRUNCATED" // a field reaches past the end of its frame
  | "LENGTH" // a negative or impossible length or count
  | "FRAME_SIZE" // a frame beyond the limit
  | "CHECKSUM" // a frame whose bytes are not those that were sent
  | "VALUE" // a value that the field cannot hold
  | "UNKNOWN_TYPE"; // a kind of record that does not exist

/** Bytes that are not what they should be. Decoders either return a whole value or throw this. */
export class WireError extends CodedError<WireErrorCode> {
  override readonly name = "WireError";
  constructor(code: WireErrorCode, message: string) {
    super(code, message);
  }
}
