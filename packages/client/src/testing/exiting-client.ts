/**
 * A process with an ephemeral node, which reports it and waits for a signal; with `listening` it
 * handles the signal itself.
 */
import { closeOnExit } from "../close-on-exit.ts";
import { connect } from "../connect.ts";

const [hosts = "", how] = process.argv.slice(2);
const zk = await connect(hosts, { sessionTimeoutMs: 60_000 });
await zk.create("/present", "", { mode: "ephemeral" });
closeOnExit(zk);
if (how === "listening") {
  let count = 0;
  // A signal listener alone does not keep the process alive.
  setInterval(() => {}, 1_000);
  process.on("SIGTERM", async () => {
    if (++count > 1) process.exit(8);
    await zk.close();
    await new Promise((resolve) => setImmediate(resolve));
    // Signals come in order: a second one would have come before.
    process.once("SIGUSR2", () => process.exit(7));
    process.kill(process.pid, "SIGUSR2");
  });
}
console.log("ready");
