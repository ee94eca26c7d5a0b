import { testLeaks } from "./testing/leak-rounds.ts";

testLeaks({ count: 60, judgesHeap: false });
