import { StartSignals } from "./signals.ts";

// The server's modules take most of a start's time to load: signals are taken before them.
const signals = new StartSignals();
const { runProcess } = await import("./server-process.ts");
await runProcess(signals);
