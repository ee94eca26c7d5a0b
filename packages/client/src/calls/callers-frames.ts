import { captureStack, ZkError } from "../errors.ts";

/**
 * Replaces the stack of an error, which is the socket's, by the frames that await the call: the
 * engine knows them while it runs a reaction of the promise. Successful calls pay for one promise.
 */
export function withCallersFrames(error: unknown): never {
  if (error instanceof ZkError) captureStack(error, withCallersFrames);
  throw error;
}
