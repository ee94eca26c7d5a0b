import {
  type ByteSlice,
  emptySlice,
  HISTORY_FEATURE,
  levelFeature,
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

/** Whether a path where no node is names the features of this server. */
export function isFeaturesPath(path: Readonly<ByteSlice>): boolean {
  return path.end - path.start === PATH.end - PATH.start && sliceEquals(path, PATH);
}

/**
 * The answer to a read of that path.
 *
 * @param level the feature level that this server has applied
 */
export function featuresView(hasHistory: boolean, level: number): NodeView {
  const words = [SERVER_FEATURES, ...(hasHistory ? [HISTORY_FEATURE] : []), levelFeature(level)].join(" ");
  let view = VIEWS.get(words);
  if (view === undefined) {
    view = viewOf(words);
    VIEWS.set(words, view);
  }
  return view;
}

/** As many as there are levels, twice. */
const VIEWS = new Map<string, NodeView>();

function viewOf(words: string): NodeView {
  const data = sliceOf(words);
  return {
    id: 0,
    name: emptySlice(),
    statView: statOf(data.end - data.start),
    statStart: 0,
    hasData: true,
    data,
    acl: READ_ONLY_ACL,
    childCount: 0,
    firstChild: () => false,
    nextChild: () => false,
    childName: emptySlice(),
  };
}

function statOf(dataLength: number): DataView {
  const stat = new DataView(new ArrayBuffer(STAT_BYTES));
  stat.setInt32(StatOffset.dataLength, dataLength);
  return stat;
}
