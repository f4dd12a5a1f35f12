#include "retrace/experiment/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "retrace/base/json.h"
#include "retrace/base/json_value.h"
#include "retrace/experiment/plan.h"
#include "retrace/experiment/study_lock.h"

#ifdef RETRACE_SQLITE
#include <SQLiteCpp/SQLiteCpp.h>
#endif

namespace retrace {
namespace fs = std::filesystem;

namespace {

template <class Items>
Json json_list(const Items& items) {
  return Json::list(items, [](const auto& item) { return Json(item); });
}

Json json_of_value(const OptionValue& value) {
  return std::visit(
      [](const auto& typed) {
        using Value = std::remove_cvref_t<decltype(typed)>;
        if constexpr (std::is_same_v<Value, bool> || std::is_same_v<Value, int64_t> || std::is_same_v<Value, double> ||
                      std::is_same_v<Value, std::string>)
          return Json(typed);
        else
          return json_list(typed);
      },
      value);
}

OptionValue list_from(const JsonValue::List& list) {
  std::vector<std::string> texts;
  std::vector<int64_t> wholes;
  std::vector<double> numbers;
  for (const auto& item : list) {
    if (item.string()) texts.push_back(*item.string());
    if (item.integer()) wholes.push_back(*item.integer());
    if (item.number()) numbers.push_back(*item.number());
  }
  if (texts.size() == list.size()) return texts;
  return wholes.size() == list.size() ? OptionValue(wholes) : OptionValue(numbers);
}

OptionValue value_from(const JsonValue& value) {
  if (value.list()) return list_from(*value.list());
  if (value.string()) return *value.string();
  if (value.boolean()) return *value.boolean();
  if (value.integer()) return *value.integer();
  return value.number().value_or(0);
}

}  // namespace

fs::path study_path(const fs::path& folder) { return folder / "study.sqlite"; }

fs::path trial_folder(const fs::path& folder, int64_t number) {
  return folder / "trials" / fmt::format("{:04}", number);
}

std::string values_json(const OptionValues& values) {
  std::vector<Json::Member> members;
  for (const auto& [name, value] : values) members.emplace_back(name, json_of_value(value));
  return Json::object(members).text();
}

OptionValues values_from_json(const std::string& text) {
  const auto read = JsonValue::parse(text);
  if (!read || !read->members()) throw Error(ErrorKind::bad_data, 752, "the parameters of a trial cannot be read");
  OptionValues values;
  for (const auto& [name, value] : *read->members()) values.set(name, value_from(value));
  return values;
}

void check_same_experiment(Study& study, const std::string& identity) {
  const std::string before = study.text("identity");
  if (before.empty()) return study.set_text("identity", identity);
  if (before == identity) return;
  const auto [old_at, new_at] = std::mismatch(before.begin(), before.end(), identity.begin(), identity.end());
  const auto line_at = [](const std::string& text, std::string::const_iterator at) {
    const auto place = static_cast<size_t>(at - text.begin());
    const size_t begin = place == 0 ? 0 : text.rfind('\n', place - 1) + 1;
    return printable(text.substr(begin, text.find('\n', place) - begin));
  };
  throw Error(ErrorKind::usage, 749, "the study is of another experiment")
      .got(line_at(identity, new_at))
      .expected(line_at(before, old_at))
      .help("give another study, or take the change back; more trials and another time limit are no change");
}

#ifndef RETRACE_SQLITE

struct Study::Connection {};

Study::Study(const fs::path&, Use) {
  throw Error(ErrorKind::unavailable, 751,
              "this retrace was built without SQLite, which keeps the trials of experiments")
      .help("install libsqlitecpp-dev and libsqlite3-dev, and build retrace again");
}
Study::~Study() = default;
std::string Study::text(const std::string&) const { return ""; }
void Study::set_text(const std::string&, const std::string&) {}
std::vector<TrialRecord> Study::trials() const { return {}; }
void Study::store(const TrialRecord&) {}
void Study::store(int64_t, const TrialReport&) {}

#else

namespace {

constexpr int kSchema = 1;
constexpr int kPatience = 10000;  // milliseconds that a reader's lock is waited for
// Marks the file as a study: "retr".
constexpr int kApplication = 0x72657472;

constexpr const char* kTables = R"(
CREATE TABLE study (name TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE trials (number INTEGER PRIMARY KEY, state TEXT NOT NULL, parameters TEXT NOT NULL, seed INTEGER NOT NULL,
  value REAL, seconds REAL NOT NULL, error TEXT NOT NULL, note TEXT NOT NULL, iterations INTEGER NOT NULL,
  fingerprint TEXT NOT NULL, run TEXT NOT NULL, job TEXT NOT NULL, version TEXT NOT NULL, data_digest TEXT NOT NULL);
CREATE TABLE reports (trial INTEGER NOT NULL, step INTEGER NOT NULL, iteration INTEGER NOT NULL, value REAL,
  PRIMARY KEY (trial, step)) WITHOUT ROWID;
)";

// SQLite has no NaN: it is null.
void bind_number(SQLite::Statement& statement, int index, double value) {
  if (std::isnan(value))
    statement.bind(index);
  else
    statement.bind(index, value);
}
double number_in(const SQLite::Column& column) {
  return column.isNull() ? std::numeric_limits<double>::quiet_NaN() : column.getDouble();
}

}  // namespace

struct Study::Connection {
  Connection(const fs::path& path, Use use)
      : path(path),
        database(path.string(),
                 use == Use::write ? SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE : SQLite::OPEN_READWRITE, kPatience) {
  }

  void prepare(Use use) {
    const int version = database.execAndGet("PRAGMA user_version").getInt();
    if (use == Use::write && version == 0 && !database.tableExists("study")) {
      database.exec("PRAGMA journal_mode = WAL");
      SQLite::Transaction transaction(database);
      database.exec(kTables);
      database.exec(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplication, kSchema));
      transaction.commit();
    } else if (database.execAndGet("PRAGMA application_id").getInt() != kApplication || version != kSchema) {
      throw Error(ErrorKind::bad_data, 752, fmt::format("\"{}\" is no study of this version", printable(path.string())))
          .got(fmt::format("schema {}", version))
          .expected(fmt::format("schema {}", kSchema));
    }
    // Every change is on the disk before the trial goes on: checkpoints may rely on it.
    database.exec(use == Use::write ? "PRAGMA synchronous = FULL" : "PRAGMA query_only = 1");
  }

  Error failed(const SQLite::Exception& failure, bool writing) const {
    const auto kind = writing ? ErrorKind::output : ErrorKind::bad_data;
    return Error(kind, writing ? 753 : 752,
                 fmt::format("study \"{}\" cannot be {}", printable(path.string()), writing ? "written" : "read"))
        .got(printable(failure.what()))
        .help(writing ? "make room on the disk; the study goes on with the same command" : "");
  }

  const fs::path path;
  SQLite::Database database;
};

namespace {

// f(), with SQLite's errors as ours.
template <class Connection, class F>
auto with_errors(const Connection& connection, bool writing, const F& f) {
  try {
    return f();
  } catch (const SQLite::Exception& failure) {
    throw connection.failed(failure, writing);
  }
}

void store_report(SQLite::Database& database, int64_t number, const TrialReport& report) {
  SQLite::Statement insert(database, "INSERT OR REPLACE INTO reports VALUES (?, ?, ?, ?)");
  insert.bind(1, number);
  insert.bind(2, report.step);
  insert.bind(3, report.iteration);
  bind_number(insert, 4, report.value);
  insert.exec();
}

void store_trial(SQLite::Database& database, const TrialRecord& trial) {
  SQLite::Statement insert(database, "INSERT OR REPLACE INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(1, trial.number);
  insert.bind(2, state_name(trial.state));
  insert.bind(3, values_json(trial.parameters));
  insert.bind(4, static_cast<int64_t>(trial.seed));
  bind_number(insert, 5, trial.value);
  insert.bind(6, trial.seconds);
  insert.bind(7, trial.error);
  insert.bind(8, trial.note);
  insert.bind(9, trial.iterations);
  insert.bind(10, trial.fingerprint);
  insert.bind(11, trial.run);
  insert.bind(12, trial.job);
  insert.bind(13, trial.version);
  insert.bind(14, trial.data_digest);
  insert.exec();
}

TrialRecord trial_in(SQLite::Statement& row) {
  TrialRecord trial;
  trial.number = row.getColumn(0).getInt64();
  trial.state = state_of(row.getColumn(1).getString());
  trial.parameters = values_from_json(row.getColumn(2).getString());
  trial.seed = static_cast<uint64_t>(row.getColumn(3).getInt64());
  trial.value = number_in(row.getColumn(4));
  trial.seconds = row.getColumn(5).getDouble();
  trial.error = row.getColumn(6).getString();
  trial.note = row.getColumn(7).getString();
  trial.iterations = row.getColumn(8).getInt64();
  trial.fingerprint = row.getColumn(9).getString();
  trial.run = row.getColumn(10).getString();
  trial.job = row.getColumn(11).getString();
  trial.version = row.getColumn(12).getString();
  trial.data_digest = row.getColumn(13).getString();
  return trial;
}

FileDescriptor locked(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) throw write_failed(folder, failure.value());
  return lock_study(folder);
}

}  // namespace

Study::Study(const fs::path& folder, Use use) : folder_(folder) {
  const fs::path path = study_path(folder);
  if (use == Use::write)
    lock_ = locked(folder);
  else if (std::error_code ignored; !fs::exists(path, ignored))
    throw missing_path(path, "study");
  try {
    connection_ = std::make_unique<Connection>(path, use);
    connection_->prepare(use);
  } catch (const SQLite::Exception& failure) {
    throw Error(ErrorKind::bad_data, 752, fmt::format("\"{}\" cannot be opened as a study", printable(path.string())))
        .got(printable(failure.what()));
  }
}

Study::~Study() = default;

std::string Study::text(const std::string& name) const {
  return with_errors(*connection_, false, [&] {
    SQLite::Statement query(connection_->database, "SELECT text FROM study WHERE name = ?");
    query.bind(1, name);
    return query.executeStep() ? query.getColumn(0).getString() : std::string();
  });
}

void Study::set_text(const std::string& name, const std::string& text) {
  with_errors(*connection_, true, [&] {
    SQLite::Statement insert(connection_->database, "INSERT OR REPLACE INTO study VALUES (?, ?)");
    insert.bind(1, name);
    insert.bind(2, text);
    insert.exec();
  });
}

std::vector<TrialRecord> Study::trials() const {
  return with_errors(*connection_, false, [&] {
    auto& database = connection_->database;
    SQLite::Transaction both(database);  // one state of the file
    std::vector<TrialRecord> trials;
    SQLite::Statement rows(database, "SELECT * FROM trials ORDER BY number");
    while (rows.executeStep()) trials.push_back(trial_in(rows));
    SQLite::Statement reports(database, "SELECT step, value, iteration FROM reports WHERE trial = ? ORDER BY step");
    for (auto& trial : trials) {
      reports.reset();
      reports.bind(1, trial.number);
      while (reports.executeStep())
        trial.reports.push_back(
            {reports.getColumn(0).getInt64(), number_in(reports.getColumn(1)), reports.getColumn(2).getInt64()});
    }
    return trials;
  });
}

void Study::store(const TrialRecord& trial) {
  with_errors(*connection_, true, [&] {
    auto& database = connection_->database;
    SQLite::Transaction whole(database);
    store_trial(database, trial);
    SQLite::Statement remove(database, "DELETE FROM reports WHERE trial = ?");
    remove.bind(1, trial.number);
    remove.exec();
    for (const auto& report : trial.reports) store_report(database, trial.number, report);
    whole.commit();
  });
}

void Study::store(int64_t number, const TrialReport& report) {
  with_errors(*connection_, true, [&] { store_report(connection_->database, number, report); });
}

#endif

}  // namespace retrace
