import { testLeaks } from "./testing/leak-rounds.ts";

testLeaks({ count: 10_000, judgesHeap: true });
