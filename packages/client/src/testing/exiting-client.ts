/** A process with an ephemeral node, which says so and waits for its end; `listening` has something to do with that itself. */
import { closeOnExit } from "../close-on-exit.ts";
import { connect } from "../connect.ts";

const [hosts = "", how] = process.argv.slice(2);
const zk = await connect(hosts, { sessionTimeoutMs: 60_000 });
await zk.create("/present", "", { mode: "ephemeral" });
closeOnExit(zk);
if (how === "listening") {
  process.on("SIGTERM", async () => {
    await zk.close();
    process.exit(7);
  });
}
console.log("ready");
