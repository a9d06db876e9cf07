// Thompson sampling on Bernoulli arms as one would write it by hand: the yardstick of benchmarks/lab.py.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <vector>

int main(int argc, char** argv) {
    const std::vector<double> means{0.25, 0.22, 0.2,  0.17, 0.17, 0.2,  0.13, 0.13, 0.1,  0.07,
                                    0.07, 0.05, 0.05, 0.05, 0.02, 0.02, 0.02, 0.01, 0.01, 0.01};
    const int runs = std::atoi(argv[1]), horizon = std::atoi(argv[2]);
    const std::size_t arms = means.size();
    std::mt19937_64 engine(1);
    std::uniform_real_distribution<double> uniform;
    double regret = 0.0;
    const std::clock_t started = std::clock();
    for (int run = 0; run < runs; ++run) {
        std::vector<double> wins(arms, 1.0), losses(arms, 1.0);
        for (int turn = 0; turn < horizon; ++turn) {
            std::size_t best = 0;
            double largest = -1.0;
            for (std::size_t arm = 0; arm < arms; ++arm) {
                std::gamma_distribution<double> first(wins[arm]), second(losses[arm]);
                const double x = first(engine), draw = x / (x + second(engine));
                if (draw > largest) {
                    largest = draw;
                    best = arm;
                }
            }
            (uniform(engine) < means[best] ? wins : losses)[best] += 1.0;
            regret += means[0] - means[best];
        }
    }
    const double seconds = double(std::clock() - started) / CLOCKS_PER_SEC;
    std::printf("%.6f %.3f\n", double(runs) * horizon / seconds, regret / runs);
}
