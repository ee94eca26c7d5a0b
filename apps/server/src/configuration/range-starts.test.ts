import { testRangeStarts } from "../testing/range-starts.ts";

testRangeStarts("in memory");
