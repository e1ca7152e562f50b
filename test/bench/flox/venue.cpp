// Rounds of FLOX's own workload through FLOX's venue; built by ../flox.ts against a checkout of it.
//
// Each line of standard input runs one round on a new engine. The answer is the processor time of
// `submit` for all commands in seconds, the trades, and the traded quantity in units. The mode is
// the first argument:
//   stock    orders of one account may trade with each other, as in FLOX's benchmark
//   stp      self-trade prevention cancels the incoming order, as Orrery does
//   margin   also a linear perpetual with a ledger, initial and maintenance margin
// The book is FLOX's fastest one. The sink hashes each event, as in FLOX's benchmark.

#include "flox-venue/event_hash.h"
#include "flox-venue/ledger.h"
#include "flox-venue/matching_engine.h"
#include "flox-venue/workload.h"
#include "flox/book/ladder_book.h"

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string_view>

using namespace flox;
using namespace flox::venue;

namespace
{
constexpr SymbolId SYMBOL = 1;
constexpr uint64_t VENUE = 999;
constexpr uint64_t ACCOUNTS = 64;

double processorSeconds()
{
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}
}  // namespace

int main(int count, char** words)
{
  const std::string_view mode = count > 1 ? words[1] : "stock";
  const bool hasMargin = mode == "margin";
  workload::Params params;
  params.symbol = SYMBOL;
  params.count = 2'000'000;
  auto commands = workload::symmetricLimits(params);
  if (mode != "stock")
  {
    for (auto& command : commands) std::get<NewOrder>(command).stp = STPMode::CancelNewest;
  }

  SymbolConfig config;
  config.id = SYMBOL;
  config.tickSize = Price::fromDouble(0.01);
  config.minPrice = Price::fromDouble(50.0);
  config.maxPrice = Price::fromDouble(150.0);
  if (hasMargin)
  {
    config.linearPerp = true;
    config.initialMarginBps = 500;
    config.maintenanceMarginBps = 250;
  }

  while (std::getchar() != EOF)
  {
    uint64_t trades = 0;
    int64_t traded = 0;
    uint64_t hash = 1469598103934665603ULL;
    auto sink = [&](const OutboundEvent& event)
    {
      if (const auto* trade = std::get_if<Trade>(&event))
      {
        ++trades;
        traded += trade->quantity.raw();
      }
      hash = hashEvent(hash, event);
    };
    const LadderBook::Config ladder{0, Price::fromDouble(0.01).raw(), 16000, 1 << 20};
    MatchingEngine<LadderBook> engine(config, sink, LadderBook{ladder});
    Ledger ledger;
    if (hasMargin)
    {
      for (uint64_t account = 1; account <= ACCOUNTS; ++account)
      {
        ledger.deposit(account, config.quoteAsset, amountOf(Volume::fromDouble(1e9)));
      }
      engine.setLedger(&ledger, VENUE);
    }
    const double from = processorSeconds();
    for (const auto& command : commands) engine.submit(command);
    const double seconds = processorSeconds() - from;
    std::printf("%.6f %llu %lld %llx\n", seconds, static_cast<unsigned long long>(trades),
                static_cast<long long>(traded / Quantity::Scale),
                static_cast<unsigned long long>(hash));
    std::fflush(stdout);
  }
}
