// The messages as proto JSON with default values. Generated from the schemas by scripts/page_types.py: do not edit.
// 64-bit numbers and bytes (base64) are text.

export interface PlayRequest {
  commandId: string;
  expectedVersion?: string;
  attach?: Attach;
  detach?: Detach;
  heartbeat?: Heartbeat;
  command?: Command;
  record?: GetRecordRequest;
  hint?: GetHintRequest;
}

export interface PlayResponse {
  messages: SeatMessage[];
}

export interface MatchRecord {
  summary?: MatchSummary;
  deals: DealRecord[];
}

export interface Attach {
  lastVersion?: string;
  seatToken: string;
}

export type Detach = Record<string, never>;

export interface Heartbeat {
  version: string;
  serverTime?: string;
}

export interface Command {
  bid?: Bid;
  passBid?: PassBid;
  nameTrump?: NameTrump;
  surrender?: Surrender;
  bury?: Bury;
  playCards?: PlayCards;
  ready?: Ready;
  signal?: Signal;
  showTrumps?: ShowTrumps;
}

export type GetRecordRequest = Record<string, never>;

export type GetHintRequest = Record<string, never>;

export interface SeatMessage {
  snapshot?: Snapshot;
  notice?: Notice;
  accepted?: Accepted;
  refused?: Refused;
  signalReceived?: SignalReceived;
  trumpsShown?: TrumpsShown;
  presence?: Presence;
  heartbeat?: Heartbeat;
  goodbye?: Goodbye;
  recordRead?: RecordRead;
  hint?: Hint;
}

export interface MatchSummary {
  roomId: string;
  owner: string;
  options?: RoomOptions;
  players: string[];
  totals: number[];
  settledDeals: number;
  disbanding?: Disbanding;
  createTime?: string;
  startTime?: string;
  endTime?: string;
  reference: string;
  labels: Record<string, string>;
}

export interface DealRecord {
  deal: number;
  startTime?: string;
  endTime?: string;
  rulesVersion: number;
  firstBidder: number;
  hands: DealtHand[];
  kitty: number[];
  calls: Call[];
  tricks: TrickRecord[];
  settlement?: Settlement;
  commitment: string;
  salt: string;
  deck: number[];
}

export interface Bid {
  points: number;
}

export type PassBid = Record<string, never>;

export interface NameTrump {
  trump: Trump;
}

export type Trump =
  | "TRUMP_UNSPECIFIED"
  | "TRUMP_DIAMONDS"
  | "TRUMP_CLUBS"
  | "TRUMP_HEARTS"
  | "TRUMP_SPADES"
  | "TRUMP_NO_TRUMP";

export type Surrender = Record<string, never>;

export interface Bury {
  cards: number[];
}

export interface PlayCards {
  cards: number[];
}

export type Ready = Record<string, never>;

export interface Signal {
  signal: SignalKind;
}

export type SignalKind =
  | "SIGNAL_KIND_UNSPECIFIED"
  | "SIGNAL_KIND_CAN_BEAT"
  | "SIGNAL_KIND_NO_POINTS"
  | "SIGNAL_KIND_HAS_POINTS";

export type ShowTrumps = Record<string, never>;

export interface Snapshot {
  version: string;
  view?: View;
  missed: Notice[];
  serverTime?: string;
}

export interface Notice {
  version: string;
  time?: string;
  seatTaken?: SeatTaken;
  seatLeft?: SeatLeft;
  dealStarted?: DealStarted;
  bidMade?: BidMade;
  bidPassed?: BidPassed;
  declarerFound?: DeclarerFound;
  trumpNamed?: TrumpNamed;
  cardsBuried?: CardsBuried;
  cardsLed?: CardsLed;
  cardsFollowed?: CardsFollowed;
  dealEnded?: DealEnded;
  seatReady?: SeatReady;
  matchEnded?: MatchEnded;
  changed?: Parts;
}

export interface Accepted {
  commandId: string;
  request: string;
  firstVersion: string;
  lastVersion: string;
  repeatedCommand: boolean;
}

export interface Refused {
  commandId: string;
  request: string;
  refusal?: Refusal;
  version: string;
}

export interface SignalReceived {
  seat: number;
  signal: SignalKind;
}

export interface TrumpsShown {
  holdings: TrumpsShownHolding[];
}

export interface Presence {
  present: boolean[];
}

export interface Goodbye {
  reason: GoodbyeReason;
  retryDelay?: string;
}

export type GoodbyeReason =
  | "REASON_UNSPECIFIED"
  | "REASON_DISPLACED"
  | "REASON_DRAINING"
  | "REASON_UNSEATED"
  | "REASON_TOO_MANY_COMMANDS";

export interface RecordRead {
  request: string;
  record?: MatchRecord;
}

export interface Hint {
  commandId: string;
  request: string;
  version: string;
  command?: Command;
}

export interface RoomOptions {
  threePlayer?: ThreePlayerGame;
  fourPlayer?: FourPlayerGame;
  deals: number;
  payer: Payer;
  noReview: boolean;
  countdowns?: Countdowns;
  start: Start;
  noHints: boolean;
}

export type Payer =
  | "PAYER_UNSPECIFIED"
  | "PAYER_OWNER"
  | "PAYER_EACH";

export type Start =
  | "START_UNSPECIFIED"
  | "START_LAST_SEAT"
  | "START_PLATFORM";

export interface Disbanding {
  seat?: number;
  platform?: boolean;
  house?: boolean;
  reason: DisbandReason;
  text: string;
}

export type DisbandReason =
  | "DISBAND_REASON_UNSPECIFIED"
  | "DISBAND_REASON_AGREED"
  | "DISBAND_REASON_ABSENT"
  | "DISBAND_REASON_MISCONDUCT"
  | "DISBAND_REASON_MAINTENANCE"
  | "DISBAND_REASON_OTHER"
  | "DISBAND_REASON_EXPIRED";

export interface DealtHand {
  cards: number[];
}

export interface Call {
  seat: number;
  points?: number;
  passed?: boolean;
}

export interface TrickRecord {
  trick?: Trick;
  attempted: number[];
  taken?: TrickTaken;
}

export interface Settlement {
  outcome: Outcome;
  declarer?: number;
  bid?: number;
  calls: Call[];
  trump: Trump;
  trickPoints: number;
  kittyCapture?: KittyCapture;
  grade: number;
  buried: number[];
  base: number;
  step: number;
  multiplier: number;
  stake: number;
  seats: SeatScore[];
}

export type Outcome =
  | "OUTCOME_UNSPECIFIED"
  | "OUTCOME_SHUTOUT"
  | "OUTCOME_NEAR_SHUTOUT"
  | "OUTCOME_MADE"
  | "OUTCOME_UPGRADE"
  | "OUTCOME_SURRENDERED"
  | "OUTCOME_DISBANDED";

export interface View {
  roomId: string;
  seat?: number;
  options?: RoomOptions;
  parts?: Parts;
}

export interface SeatTaken {
  seat: number;
  player: string;
}

export interface SeatLeft {
  seat: number;
}

export interface DealStarted {
  deal: number;
  firstBidder: number;
  commitment: string;
}

export interface BidMade {
  seat: number;
  points: number;
}

export interface BidPassed {
  seat: number;
}

export interface DeclarerFound {
  declarer: number;
  points: number;
  shownKitty: number[];
}

export interface TrumpNamed {
  trump: Trump;
}

export interface CardsBuried {
  declarer: number;
  voidSeats: number[];
  statements: TrumpStatement[];
}

export interface CardsLed {
  seat: number;
  cards: number[];
  lead?: Lead;
  failedThrow: boolean;
  attempted: number[];
  voidSeats: number[];
  statements: TrumpStatement[];
}

export interface CardsFollowed {
  seat: number;
  cards: number[];
  ahead: number;
  taken?: TrickTaken;
  voidSeats: number[];
  statements: TrumpStatement[];
}

export type DealEnded = Record<string, never>;

export interface SeatReady {
  seat: number;
}

export interface MatchEnded {
  disbanding?: Disbanding;
}

export interface Parts {
  chairs?: ChairsPart;
  progress?: ProgressPart;
  turn?: TurnPart;
  auction?: AuctionPart;
  contract?: ContractPart;
  table?: TablePart;
  captured?: CapturedPart;
  history?: HistoryPart;
  inference?: InferencePart;
  trumpVoid?: TrumpVoidPart;
  settlement?: SettlementPart;
  account?: AccountPart;
  hand?: HandPart;
  advice?: AdvicePart;
  kitty?: KittyPart;
  buried?: BuriedPart;
  capturedCards?: CapturedCardsPart;
  trumpCounts?: TrumpCountsPart;
  disclosure?: DisclosurePart;
}

export interface Refusal {
  code: Code;
  message: string;
  wrongPhase?: RefusalWrongPhase;
  noSuchSeat?: RefusalNoSuchSeat;
  notYourTurn?: RefusalNotYourTurn;
  seatOccupied?: RefusalSeatOccupied;
  seatFree?: RefusalSeatFree;
  seatedElsewhere?: RefusalSeatedElsewhere;
  notABid?: RefusalNotABid;
  notATrump?: RefusalNotATrump;
  notASignal?: RefusalNotASignal;
  notACard?: RefusalNotACard;
  repeatedCard?: RefusalRepeatedCard;
  cardNotHeld?: RefusalCardNotHeld;
  wrongNumberOfCards?: RefusalWrongNumberOfCards;
  firstBidderMustBid?: RefusalFirstBidderMustBid;
  bidNotLower?: RefusalBidNotLower;
  surrenderNotAllowed?: RefusalSurrenderNotAllowed;
  severalGroups?: RefusalSeveralGroups;
  sideSuitThrow?: RefusalSideSuitThrow;
  wholeGroupNotPlayed?: RefusalBreach;
  groupNotFollowed?: RefusalBreach;
  tractorNotPlayed?: RefusalBreach;
  pairsNotPlayed?: RefusalBreach;
  declarerMayNotSignal?: RefusalDeclarerMayNotSignal;
  notInThisRoom?: RefusalNotInThisRoom;
  nobodyIsVoid?: RefusalNobodyIsVoid;
  noSuchRoom?: RefusalNoSuchRoom;
  commandIdReused?: RefusalCommandIdReused;
  staleVersion?: RefusalStaleVersion;
  noCommand?: RefusalNoCommand;
  roomQuarantined?: RefusalRoomQuarantined;
  tooManyCommands?: RefusalTooManyCommands;
  storeUnavailable?: RefusalStoreUnavailable;
  invalidField?: RefusalInvalidField;
  tooManyRooms?: RefusalTooManyRooms;
  noSuchRecord?: RefusalNoSuchRecord;
  invalidCursor?: RefusalInvalidCursor;
  roomFull?: RefusalRoomFull;
  quotaReached?: RefusalQuotaReached;
  foreignCursor?: RefusalForeignCursor;
  outcomeUnknown?: RefusalOutcomeUnknown;
  seatChangesUsedUp?: RefusalSeatChangesUsedUp;
  writtenByNewer?: RefusalWrittenByNewer;
  hintsForbidden?: RefusalHintsForbidden;
  nothingToDecide?: RefusalNothingToDecide;
  tooManyHints?: RefusalTooManyHints;
}

export type Code =
  | "CODE_UNSPECIFIED"
  | "CODE_PLAYER"
  | "CODE_NODESK"
  | "CODE_STEP"
  | "CODE_SEAT"
  | "CODE_PARAM"
  | "CODE_RULE";

export interface TrumpsShownHolding {
  seat: number;
  cards: number[];
}

export interface ThreePlayerGame {
  jokerBonus: boolean;
  climb: boolean;
}

export interface FourPlayerGame {
  deck: Deck;
}

export type Deck =
  | "DECK_UNSPECIFIED"
  | "DECK_SHORT"
  | "DECK_FULL";

export interface Countdowns {
  bid: number;
  trump: number;
  bury: number;
  play: number;
}

export interface Trick {
  lead?: Lead;
  plays: TrickPlay[];
  ahead: number;
  failedThrow: boolean;
}

export interface TrickTaken {
  winner: number;
  points: number;
  captured: boolean;
}

export interface KittyCapture {
  points: number;
  multiplier: number;
}

export interface SeatScore {
  awards: Award[];
  awardCards: number[];
  jokers: number;
  awardChips: number;
  baseChips: number;
  score: number;
}

export interface TrumpStatement {
  seat: number;
  trumps: number;
  hasPair: boolean;
}

export interface Lead {
  group: Group;
  count: number;
  components: Component[];
}

export type Group =
  | "GROUP_UNSPECIFIED"
  | "GROUP_DIAMONDS"
  | "GROUP_CLUBS"
  | "GROUP_HEARTS"
  | "GROUP_SPADES"
  | "GROUP_TRUMPS";

export interface ChairsPart {
  players: string[];
}

export interface ProgressPart {
  phase: Phase;
  deal: number;
  deals: number;
  totals: number[];
  firstBidder?: number;
  commitment: string;
}

export type Phase =
  | "PHASE_UNSPECIFIED"
  | "PHASE_OPEN"
  | "PHASE_BIDDING"
  | "PHASE_NAMING"
  | "PHASE_BURYING"
  | "PHASE_PLAYING"
  | "PHASE_SETTLED"
  | "PHASE_OVER";

export interface TurnPart {
  seat?: number;
  countdown: number;
  began?: string;
  number: number;
}

export interface AuctionPart {
  calls: Call[];
  leader?: number;
  standing?: number;
  base: number;
}

export interface ContractPart {
  declarer?: number;
  bid?: number;
  base: number;
  maySurrender: boolean;
  trump: Trump;
}

export interface TablePart {
  number: number;
  trick?: Trick;
}

export interface CapturedPart {
  points: number;
  multiplier: number;
}

export interface HistoryPart {
  kept: number;
  tricks: Trick[];
}

export interface InferencePart {
  seats: Proven[];
}

export interface TrumpVoidPart {
  voidSeats: number[];
  statements: TrumpStatement[];
}

export interface SettlementPart {
  settlement?: Settlement;
  ready: boolean[];
  deck: number[];
  salt: string;
}

export interface AccountPart {
  account?: Account;
}

export interface HandPart {
  cards: number[];
}

export interface AdvicePart {
  call?: CallAdvice;
  name?: NameAdvice;
  bury?: BuryAdvice;
  lead?: LeadAdvice;
  follow?: FollowAdvice;
  ready?: ReadyAdvice;
}

export interface KittyPart {
  cards: number[];
}

export interface BuriedPart {
  cards: number[];
}

export interface CapturedCardsPart {
  cards: number[];
}

export interface TrumpCountsPart {
  counts: TrumpCount[];
}

export interface DisclosurePart {
  disclosure?: Disclosure;
}

export interface RefusalWrongPhase {
  phase: Phase;
}

export interface RefusalNoSuchSeat {
  seat: number;
  seats: number;
}

export interface RefusalNotYourTurn {
  turn: number;
}

export interface RefusalSeatOccupied {
  seat: number;
}

export interface RefusalSeatFree {
  seat: number;
}

export interface RefusalSeatedElsewhere {
  seat: number;
}

export interface RefusalNotABid {
  points: number;
  bids: number[];
}

export interface RefusalNotATrump {
  trump: number;
  trumps: number[];
}

export interface RefusalNotASignal {
  signal: number;
  signals: number[];
}

export interface RefusalNotACard {
  card: number;
  highest: number;
}

export interface RefusalRepeatedCard {
  card: number;
}

export interface RefusalCardNotHeld {
  card: number;
}

export interface RefusalWrongNumberOfCards {
  expected: number;
  given: number;
}

export interface RefusalFirstBidderMustBid {
  opening: number;
}

export interface RefusalBidNotLower {
  standing: number;
}

export interface RefusalSurrenderNotAllowed {
  bid: number;
}

export interface RefusalSeveralGroups {
  groups: Group[];
  legal: number[];
}

export interface RefusalSideSuitThrow {
  group: Group;
  legal: number[];
}

export interface RefusalBreach {
  group: Group;
  pairs: number;
  compulsory: number[];
  legal: number[];
}

export type RefusalDeclarerMayNotSignal = Record<string, never>;

export type RefusalNotInThisRoom = Record<string, never>;

export type RefusalNobodyIsVoid = Record<string, never>;

export type RefusalNoSuchRoom = Record<string, never>;

export type RefusalCommandIdReused = Record<string, never>;

export interface RefusalStaleVersion {
  version: string;
}

export type RefusalNoCommand = Record<string, never>;

export interface RefusalRoomQuarantined {
  version: string;
}

export interface RefusalTooManyCommands {
  perSecond: number;
}

export type RefusalStoreUnavailable = Record<string, never>;

export interface RefusalInvalidField {
  field: string;
  given: string;
  least: string;
  most: string;
  unit: RefusalUnit;
  allowed: string[];
}

export type RefusalUnit =
  | "UNIT_UNSPECIFIED"
  | "UNIT_BYTES"
  | "UNIT_ITEMS"
  | "UNIT_SECONDS"
  | "UNIT_CONTROL_CHARACTERS"
  | "UNIT_CHARACTERS"
  | "UNIT_OTHER_CHARACTERS";

export interface RefusalTooManyRooms {
  limit: number;
}

export type RefusalNoSuchRecord = Record<string, never>;

export interface RefusalInvalidCursor {
  field: string;
}

export interface RefusalRoomFull {
  seats: number;
}

export interface RefusalQuotaReached {
  quota: RefusalQuota;
  limit: number;
}

export type RefusalQuota =
  | "QUOTA_UNSPECIFIED"
  | "QUOTA_ROOMS"
  | "QUOTA_WATCHERS"
  | "QUOTA_STREAMS"
  | "QUOTA_CALLS"
  | "QUOTA_UNATTACHED"
  | "QUOTA_GATEWAYS"
  | "QUOTA_SPECTATORS";

export type RefusalForeignCursor = Record<string, never>;

export type RefusalOutcomeUnknown = Record<string, never>;

export interface RefusalSeatChangesUsedUp {
  most: number;
}

export type RefusalWrittenByNewer = Record<string, never>;

export type RefusalHintsForbidden = Record<string, never>;

export interface RefusalNothingToDecide {
  phase: Phase;
}

export type RefusalTooManyHints = Record<string, never>;

export interface TrickPlay {
  seat: number;
  cards: number[];
}

export interface Award {
  kind: AwardKind;
  number: number;
}

export type AwardKind =
  | "AWARD_KIND_UNSPECIFIED"
  | "AWARD_KIND_JOKERS"
  | "AWARD_KIND_SEVENS"
  | "AWARD_KIND_TWOS"
  | "AWARD_KIND_CHAIN"
  | "AWARD_KIND_JOKER_BONUS"
  | "AWARD_KIND_RUSH";

export interface Component {
  kind: ComponentKind;
  pairs: number;
  level: number;
}

export type ComponentKind =
  | "COMPONENT_KIND_UNSPECIFIED"
  | "COMPONENT_KIND_SINGLE"
  | "COMPONENT_KIND_PAIR"
  | "COMPONENT_KIND_TRACTOR";

export interface Proven {
  voidGroups: Group[];
  pairlessGroups: Group[];
}

export interface Account {
  disbanding?: Disbanding;
  deals: DealScores[];
  totals: number[];
}

export interface CallAdvice {
  bids: number[];
  mayPass: boolean;
  bid?: Bid;
  passBid?: PassBid;
}

export interface NameAdvice {
  choices: NameAdviceChoice[];
  maySurrender: boolean;
  suggestion?: NameTrump;
}

export interface BuryAdvice {
  count: number;
  suggestion?: Bury;
}

export interface LeadAdvice {
  suggestion?: PlayCards;
}

export interface FollowAdvice {
  count: number;
  must: number[];
  may: number[];
  suggestion?: PlayCards;
}

export interface ReadyAdvice {
  suggestion?: Ready;
}

export interface TrumpCount {
  seat: number;
  trumps: number;
  pairs: number;
}

export interface Disclosure {
  holding?: DisclosureHolding;
  jokers: number;
  sevens: number;
  twos: number;
}

export interface DealScores {
  scores: number[];
}

export interface NameAdviceChoice {
  trump: Trump;
  pairs: number;
}

export interface DisclosureHolding {
  trumps: number;
  pairs: number;
  tractors: number;
}
