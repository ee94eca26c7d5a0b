import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A directory for a test, gone when the test is. */
export class TemporaryDirectory implements Disposable {
  readonly path: string = mkdtempSync(join(tmpdir(), "zooid-txn-log-"));

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
