import {
  type ByteSlice,
  emptySlice,
  type NodeView,
  READ_ONLY_ACL,
  SERVER_FEATURES,
  SERVER_FEATURES_PATH,
  STAT_BYTES,
  StatOffset,
  sliceEquals,
  sliceOf,
} from "@zooid/model";

const PATH = sliceOf(SERVER_FEATURES_PATH);
const DATA = sliceOf(SERVER_FEATURES);

/** Whether a path where no node is names the features of this server. */
export function isFeaturesPath(path: Readonly<ByteSlice>): boolean {
  return path.end - path.start === PATH.end - PATH.start && sliceEquals(path, PATH);
}

/** The answer to a read of that path. */
export const FEATURES_VIEW: NodeView = {
  id: 0,
  name: emptySlice(),
  statView: statOf(DATA.end - DATA.start),
  statStart: 0,
  hasData: true,
  data: DATA,
  acl: READ_ONLY_ACL,
  childCount: 0,
  firstChild: () => false,
  nextChild: () => false,
  childName: emptySlice(),
};

function statOf(dataLength: number): DataView {
  const stat = new DataView(new ArrayBuffer(STAT_BYTES));
  stat.setInt32(StatOffset.dataLength, dataLength);
  return stat;
}
