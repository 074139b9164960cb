// A window of numbers in C++, to measure windrow's kernels against: Two-Stacks Lite over one ring,
// with no allocation per event.
//
// `slide` fills a window of `extent` values, then runs rounds of evict, insert and query, and tells
// the seconds that the rounds took.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <time.h>

namespace {

// What windrow's kernels are timed by, too.
double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Sum {
    static double identity() { return 0.0; }
    static double lift(double value) { return value; }
    static double combine(double older, double newer) { return older + newer; }
    static double lower(double partial, std::size_t) { return partial; }
};

struct Max {
    static double identity() { return -std::numeric_limits<double>::infinity(); }
    static double lift(double value) { return value; }
    static double combine(double older, double newer) { return std::max(older, newer); }
    static double lower(double partial, std::size_t) { return partial; }
};

struct GeometricMean {
    static double identity() { return 0.0; }
    static double lift(double value) { return std::log(value); }
    static double combine(double older, double newer) { return older + newer; }
    static double lower(double partial, std::size_t count) {
        return std::exp(partial / static_cast<double>(count));
    }
};

// Places before the boundary hold the aggregate up to it, those behind it hold single events, and
// `back_` is the aggregate of the latter.
template <typename Operation>
class TwoStacksLite {
public:
    explicit TwoStacksLite(std::size_t extent)
        : partials_(room_for(extent)), mask_(partials_.size() - 1) {}

    void insert(double value) {
        const double partial = Operation::lift(value);
        partials_[end_++ & mask_] = partial;
        back_ = Operation::combine(back_, partial);
    }

    void evict() {
        if (front_ == boundary_) move_boundary();
        ++front_;
    }

    double query() const {
        const double partial = front_ == boundary_
            ? back_
            : Operation::combine(partials_[front_ & mask_], back_);
        return Operation::lower(partial, end_ - front_);
    }

private:
    static std::size_t room_for(std::size_t extent) {
        std::size_t room = 1;
        while (room < extent) room *= 2;
        return room;
    }

    void move_boundary() {
        double newer = partials_[(end_ - 1) & mask_];
        for (std::size_t place = end_ - 1; place > front_; --place) {
            double& older = partials_[(place - 1) & mask_];
            older = newer = Operation::combine(older, newer);
        }
        boundary_ = end_;
        back_ = Operation::identity();
    }

    std::vector<double> partials_;
    std::size_t mask_;
    std::size_t front_ = 0, boundary_ = 0, end_ = 0;
    double back_ = Operation::identity();
};

template <typename Operation>
double slide(const double* values, std::size_t mask, std::size_t extent, std::size_t rounds,
             double* answers) {
    TwoStacksLite<Operation> window(extent);
    for (std::size_t row = 0; row < extent; ++row) window.insert(values[row & mask]);
    const double started = processor_seconds();
    for (std::size_t row = extent; row < extent + rounds; ++row) {
        window.evict();
        window.insert(values[row & mask]);
        answers[row & mask] = window.query();
    }
    return processor_seconds() - started;
}

}  // namespace

extern "C" {

double slide_sum(const double* values, std::size_t mask, std::size_t extent, std::size_t rounds,
                 double* answers) {
    return slide<Sum>(values, mask, extent, rounds, answers);
}

double slide_max(const double* values, std::size_t mask, std::size_t extent, std::size_t rounds,
                 double* answers) {
    return slide<Max>(values, mask, extent, rounds, answers);
}

double slide_geometric_mean(const double* values, std::size_t mask, std::size_t extent,
                            std::size_t rounds, double* answers) {
    return slide<GeometricMean>(values, mask, extent, rounds, answers);
}

}  // extern "C"
