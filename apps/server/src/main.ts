import { StartSignals } from "./process/signals.ts";

// The server's modules take most of a start's time to load: signals are taken before them.
const signals = new StartSignals();
const { runProcess } = await import("./process/server-process.ts");
await runProcess(signals);
