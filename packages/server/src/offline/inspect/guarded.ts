import { StoreError } from "@zooid/txn-log";

/** @returns what is wrong with a file, if the act finds it out */
export function guarded(file: string, act: () => void): StoreError | undefined {
  try {
    act();
    return undefined;
  } catch (cause) {
    return faultOf(file, cause);
  }
}

/** @throws the cause where the file is not to blame */
export function faultOf(file: string, cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause;
  if (cause instanceof Error && "code" in cause) {
    return new StoreError({ code: "UNREADABLE", file, reason: cause.message }, { cause });
  }
  throw cause;
}
