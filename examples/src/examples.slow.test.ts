import { SAYS, testRun } from "./testing/runs.ts";

for (const file of Object.keys(SAYS)) testRun(file);
