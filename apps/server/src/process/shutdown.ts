import type { ProcessLines } from "../logs/log-events.ts";
import { ExitStatus } from "./exit-status.ts";

/** Maximum time of a stop; then the process ends without it. */
const STOP_MS_MAX = 5000;

/**
 * Stops at SIGTERM and SIGINT: what was read is answered and durable, then the process ends with
 * status 0. A second signal ends it at once; that loses nothing either, since whatever was
 * acknowledged is on disk.
 */
export function stopOnSignals(stop: () => Promise<void>, log: ProcessLines): void {
  let isStopping = false;
  const take = (signal: NodeJS.Signals): void => {
    if (isStopping) process.exit(ExitStatus.UNEXPECTED);
    isStopping = true;
    log.info(`${signal}: stopping`, { event: "stopping" });
    const deadline = setTimeout(() => {
      log.warn(`the stop took longer than ${STOP_MS_MAX} ms; ending without it`, { event: "stop-forced" });
      process.exit(ExitStatus.OK);
    }, STOP_MS_MAX);
    deadline.unref();
    stop().then(
      () => {
        log.info("stopped", { event: "stopped" });
        process.exit(ExitStatus.OK);
      },
      (error: unknown) => {
        log.error(`the stop failed: ${error instanceof Error ? error.message : String(error)}`, {
          event: "stop-failed",
        });
        process.exit(ExitStatus.UNEXPECTED);
      },
    );
  };
  process.on("SIGTERM", take);
  process.on("SIGINT", take);
}
